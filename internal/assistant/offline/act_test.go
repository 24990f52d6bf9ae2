package offline

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/toolcall"
)

// actingMill is smallMill with bulk updates and two custom actions, one of a kind of record that has no update.
func actingMill(t *testing.T) *world {
	w := smallMill(t)
	step := toolcall.EntityInfo{Name: "crp.operation", Title: "Operation", Plural: "Operations", Key: []string{"id"}, Fields: []toolcall.FieldInfo{
		{Name: "id", Label: "Id", Type: "INTEGER"}, {Name: "day", Label: "Day", Type: "DATE"}, {Name: "work_center_id", Label: "Work centre", Type: "REFERENCE", References: "mrp.work_center"}}}
	w.entities = append(w.entities, step)
	w.offers["crp.operation"] = []string{"list", "get"}
	w.offers["mrp.production_order"] = append(w.offers["mrp.production_order"], "bulk_update")
	w.rows["crp.operation"] = []row{{"7", map[string]any{"id": "7", "day": "2026-05-31", "work_center_id": "1"}}}
	w.actions = []toolcall.Tool{
		{Name: "mrp_adjust_order", Operation: "action", Write: true, Label: "Propose to adjust a production order", Entity: w.entities[2], Inputs: []toolcall.InputInfo{
			{Name: "order", Type: "text", Required: true, Names: true}, {Name: "finish", Type: "date", Of: "due_date"}, {Name: "start", Type: "date", Of: "planned_start"},
			{Name: "split", Type: "object", Inputs: []toolcall.InputInfo{{Name: "quantity", Type: "number", Required: true}}}}},
		{Name: "crp_adjust_schedule", Operation: "action", Write: true, Label: "Propose to move an operation", Entity: step, Inputs: []toolcall.InputInfo{
			{Name: "operation", Type: "text", Required: true, Names: true}, {Name: "day", Type: "date", Of: "day"}, {Name: "work_center", Type: "text", Of: "work_center_id"}}},
	}
	return w
}

func adjusted(input map[string]any) []proposed {
	input["order"] = "PO-1042"
	return []proposed{{"mrp_adjust_order", "", input}}
}

func scheduled(input map[string]any) []proposed {
	input["operation"] = "7"
	return []proposed{{"crp_adjust_schedule", "", input}}
}

func bulkOf(where, field string, value any) []proposed {
	return []proposed{{"mrp_production_order_bulk_update", where, map[string]any{field: value}}}
}

func TestSentencesThatUseAnAction(t *testing.T) {
	for message, want := range map[string][]proposed{
		"Can we push PO-1042 by two days?":                         adjusted(map[string]any{"start": "2026-06-02"}),
		"push production order 3 by two days":                      adjusted(map[string]any{"start": "2026-06-02"}),
		"reschedule PO-1042 to 2026-06-08":                         adjusted(map[string]any{"start": "2026-06-08"}),
		"bring PO-1042 forward by a day":                           adjusted(map[string]any{"start": "2026-05-30"}),
		"move PO-1042's due date to 5 June 2026":                   order3("due_date", "2026-06-05"),
		"set the planned start of PO-1042 to 2026-06-08":           order3("planned_start", "2026-06-08"),
		"push operation 7 by 3 days":                               scheduled(map[string]any{"day": "2026-06-03"}),
		"Move operation 7 to 2 June 2026":                          scheduled(map[string]any{"day": "2026-06-02"}),
		"move the day of operation 7 to 2026-06-02":                scheduled(map[string]any{"day": "2026-06-02"}),
		"move operation 7 to WC-FILL":                              scheduled(map[string]any{"work_center": "WC-FILL"}),
		"split 180 off PO-1042":                                    adjusted(map[string]any{"split": map[string]any{"quantity": "180"}}),
		"Could you split 180.5 from order PO-1042?":                adjusted(map[string]any{"split": map[string]any{"quantity": "180.5"}}),
		"Split PO-1042 into 300 and 180":                           adjusted(map[string]any{"split": map[string]any{"quantity": "180"}}),
		"split production order PO-1042 in two":                    adjusted(map[string]any{"split": map[string]any{"quantity": "240"}}),
		"Please split PO-1042 into two orders.":                    adjusted(map[string]any{"split": map[string]any{"quantity": "240"}}),
		"Set priority 2 on all released orders":                    bulkOf(`{"status":"released"}`, "priority", 2.0),
		"set priority 2 on released orders":                        bulkOf(`{"status":"released"}`, "priority", 2.0),
		"Set the priority of all released orders to 2":             bulkOf(`{"status":"released"}`, "priority", 2.0),
		"set the notes of all orders with priority 3 to \"soon\"":  bulkOf(`{"priority":3}`, "notes", "soon"),
		"change the priority of all orders that are released to 1": bulkOf(`{"status":"released"}`, "priority", 1.0),
		"clear the notes of all released orders":                   bulkOf(`{"status":"released"}`, "notes", nil),
		"set priority 2 on PO-1042":                                order3("priority", 2.0),
	} {
		w := actingMill(t)
		answer := w.say(message)
		w.expect(message, answer, want...)
		if !strings.Contains(answer, "I prepared #31") {
			t.Errorf("%s\n  says %q", message, answer)
		}
	}
}

func TestSentencesThatNoActionFits(t *testing.T) {
	for message, says := range map[string]string{
		"split PO-1042":                                    "How much goes to the new one?",
		"split PO-1042 into 300 and 300":                   "has 480, and 300 and 300 are not that together",
		"split PO-1042 into three parts":                   "split <number> off <record>",
		"split role 4 in two":                              "I may not propose to split roles",
		"split PO-9999 in two":                             `I found nothing called "PO-9999"`,
		"split all orders in two":                          "several records at once",
		"move operation 7 forward two days":                "earlier or later",
		"push role 4 by two days":                          "Roles have no date",
		"push all released orders by two days":             "several records at once",
		"set priority 2 on all orders":                     "Which production orders?",
		"set priority 2 on all planned roles":              "several records at once",
		"set priority 2 on all cancelled orders":           `is "cancelled"`,
		"set the status of all released orders to planned": "I may not propose changes to Status",
		"delete all roles":                                 "several records at once",
		"What can you do?":                                 "propose to adjust a production order",
		"what can you do":                                  "split <number> off production order <number or name>",
		"help":                                             "set <field> to <value> on all production orders with <field> <value>",
		"Wie geht es dir?":                                 "propose changes to roles, users, production orders and operations",
	} {
		w := actingMill(t)
		answer := w.say(message)
		w.expect(message, answer)
		if !strings.Contains(answer, says) {
			t.Errorf("%s\n  says %q\n  and not %q", message, answer, says)
		}
	}
}
