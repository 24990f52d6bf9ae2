package offline

import (
	"testing"

	"github.com/countersign/countersign/internal/toolcall"
)

var (
	reads  = []string{"list", "get"}
	writes = []string{"list", "get", "create", "update", "delete"}
)

// mill is a registry like the demo's.
func mill(t *testing.T) *world {
	order := func(id, number, item, quantity, status string, priority int, start, due string) row {
		return row{id, map[string]any{"id": id, "order_number": number, "item": item, "quantity": quantity, "status": status, "priority": priority, "planned_start": start, "due_date": due, "notes": nil}}
	}
	role := func(id, name string) row {
		return row{id, map[string]any{"id": id, "name": name, "description": "May " + name}}
	}
	return &world{t: t,
		entities: []toolcall.EntityInfo{
			{Name: "core.role", Title: "Role", Plural: "Roles", LabelField: "name", Key: []string{"id"}, Fields: []toolcall.FieldInfo{
				{Name: "id", Label: "Id", Type: "INTEGER"}, {Name: "name", Label: "Name", Type: "TEXT", Writable: true}, {Name: "description", Label: "Description", Type: "TEXT", Writable: true, Nullable: true}}},
			{Name: "core.user", Title: "User", Plural: "Users", LabelField: "name", Key: []string{"id"}, Fields: []toolcall.FieldInfo{
				{Name: "id", Label: "Id", Type: "INTEGER"}, {Name: "name", Label: "Name", Type: "TEXT"}, {Name: "email", Label: "E-mail", Type: "TEXT", Masked: true}, {Name: "role_id", Label: "Role", Type: "REFERENCE", References: "core.role", Writable: true}}},
			{Name: "mrp.production_order", Title: "Production order", Plural: "Production orders", LabelField: "order_number", Key: []string{"id"}, Fields: []toolcall.FieldInfo{
				{Name: "id", Label: "Id", Type: "INTEGER"}, {Name: "order_number", Label: "Order number", Type: "TEXT"}, {Name: "item", Label: "Item", Type: "TEXT"},
				{Name: "quantity", Label: "Quantity", Type: "DECIMAL", Writable: true}, {Name: "status", Label: "Status", Type: "TEXT"}, {Name: "priority", Label: "Priority", Type: "INTEGER", Writable: true},
				{Name: "due_date", Label: "Due date", Type: "DATE", Writable: true}, {Name: "planned_start", Label: "Planned start", Type: "DATE", Writable: true}, {Name: "notes", Label: "Notes", Type: "TEXT", Writable: true, Nullable: true}}},
		},
		offers: map[string][]string{"core.role": {"list", "get", "create", "update"}, "core.user": reads, "mrp.production_order": {"list", "get", "update"}},
		rows: map[string][]row{
			"core.role": {role("4", "editor"), role("7", "temp")},
			"core.user": {{"1", map[string]any{"id": "1", "name": "Maria Rossi", "email": "m@x", "role_id": "4"}}, {"2", map[string]any{"id": "2", "name": "editor", "role_id": "7"}}},
			"mrp.production_order": {
				order("1", "PO-1039", "FG-AMBER-20L", "240", "released", 3, "2026-06-02", "2026-06-05"), order("2", "PO-1040", "FG-STOUT-20L", "160", "released", 5, "2026-06-01", "2026-06-04"),
				order("3", "PO-1042", "FG-PALE-20L", "480", "planned", 3, "2026-05-31", "2026-06-06"), order("4", "PO-1044", "FG-PALE-20L", "120", "completed", 3, "2026-05-26", "2026-05-28")},
		},
	}
}

func TestTry(t *testing.T) {
	for _, m := range []string{
		"Rename role 4 to reviewer", "rename role editor to reviewer", `Rename the role "editor" to “chief reviewer”.`, "call role 4 reviewer", "rename editor to reviewer", "rename 4 to x",
		"Can we push PO-1042 by two days?", "please delay production order PO-1042 by 2 weeks", "bring PO-1042 forward by two days", "move PO-1042 forward two days", "push the due date of PO-1042 back by 3 days", "move PO-1042's due date to 5 June 2026", "push PO-1042 2 days later",
		"Set priority 2 on all released orders", "Set priority 2 on PO-1042", "Change the quantity of PO-1044 to 90", "set PO-1044's quantity to 90.5", "change PO-1042 quantity to 90", "make PO-1042 priority 1", "Set the quantity to 90 for PO-1042", "set status of PO-1042 to released",
		"set priority of PO-1042 to 2 and notes to call John",
		"Delete role 7", "delete PO-1042", "delete all roles", "Which orders are released?", "list roles", "show me all production orders with priority 3", "show released orders", "list users with role editor", "show PO-1042", "what is role 4?", "What is the status of PO-1042?", "what's PO-1042's quantity", "how many orders are planned?", "show the editor role",
		"What can you do?", "yes, apply it", "yes", "do it", "confirm #31", "hello", "thanks!", "clear the notes of PO-1042", "clear the name of role 4", "remove the notes from PO-1042", "add a role called buyer with description May buy things", "create a new role \"x, y\"", "create a role", "create a user called Bob", "make me a coffee", "Rename role 4 to reviewer. Set priority 2 on PO-1042. Please show role 7",
		"Rename role 4 to St. Mary", "Rename role 4 to reviewer and delete role 7", "list orders with quantity over 100", "list orders that are not released", "set quantity of PO-1042 to lots", "Which orders are foo?", "show PO-9999", "rename role 99 to x",
	} {
		w := mill(t)
		a := w.say(m)
		t.Logf("> %s\n%s\n   %v", m, a, w.proposed)
	}
}
