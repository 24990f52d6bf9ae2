package card_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/sqlc"
)

func sealed() card.Sealed {
	return card.Sealed{Tool: "core_role_update", Entity: "core.role", Operation: sqlc.WriteOperationUpdate, ActionKind: "record_update",
		Records: []card.Record{{Entity: "core.role", Operation: sqlc.WriteOperationUpdate, Key: "4", Label: "editor", Version: "v1", Changes: []card.Change{
			{Field: "name", Label: "Name", Type: card.Text, From: value("editor"), To: value("reviewer")}}}}}
}

func TestTwoCardsHaveTwoFingerprints(t *testing.T) {
	change := func(do func(*card.Sealed)) card.Sealed { s := sealed(); do(&s); return s }
	first := func(s *card.Sealed) *card.Change { return &s.Records[0].Changes[0] }
	seen := map[string]string{card.Fingerprint(sealed()): "the card itself"}
	for name, other := range map[string]card.Sealed{
		"proposal":     change(func(s *card.Sealed) { s.Proposal = id.NewProposal() }),
		"workspace":    change(func(s *card.Sealed) { s.Workspace = id.NewWorkspace() }),
		"acting user":  change(func(s *card.Sealed) { s.ActingUser = id.NewUser() }),
		"tool":         change(func(s *card.Sealed) { s.Tool = "x" }),
		"key":          change(func(s *card.Sealed) { s.Records[0].Key = "5" }),
		"version":      change(func(s *card.Sealed) { s.Records[0].Version = "v2" }),
		"field":        change(func(s *card.Sealed) { first(s).Field = "description" }),
		"to":           change(func(s *card.Sealed) { first(s).To = value("reviewer ") }),
		"to null":      change(func(s *card.Sealed) { first(s).To = &card.Value{Null: true} }),
		"to JSON null": change(func(s *card.Sealed) { first(s).To = &card.Value{JSON: json.RawMessage("null")} }),
		"to missing":   change(func(s *card.Sealed) { first(s).To = nil }),
		"masked":       change(func(s *card.Sealed) { first(s).To.Masked = true }),
		"from":         change(func(s *card.Sealed) { first(s).From = value("") }),
		"approvals":    change(func(s *card.Sealed) { s.ApprovalsNeeded = 1 }),
		"salt":         change(func(s *card.Sealed) { s.Salt = []byte("x") }),
		"preview":      change(func(s *card.Sealed) { s.PreviewOnly = true }),
		"more records": change(func(s *card.Sealed) { s.Records = append(s.Records, s.Records[0]) }),
		"rehearsed":    change(func(s *card.Sealed) { s.Rehearsal = &card.Rehearsal{Status: card.Passed} }),
		"side effect": change(func(s *card.Sealed) {
			s.Rehearsal = &card.Rehearsal{Status: card.Passed, SideEffects: []card.SideEffect{{Table: "a.b", Operation: "DELETE", Rows: 1}}}
		}),
		"more rows": change(func(s *card.Sealed) {
			s.Rehearsal = &card.Rehearsal{Status: card.Passed, SideEffects: []card.SideEffect{{Table: "a.b", Operation: "DELETE", Rows: 2}}}
		}),
		"also sets":    change(func(s *card.Sealed) { s.Rehearsal = also(1) }),
		"where":        change(func(s *card.Sealed) { s.Rehearsal = also(2) }),
		"shifted text": change(func(s *card.Sealed) { s.Tool, s.Entity = "core_role_updatec", "ore.role" }),
	} {
		f := card.Fingerprint(other)
		if twin, ok := seen[f]; ok {
			t.Errorf("%s: the same fingerprint as %s", name, twin)
		}
		seen[f] = name
	}
}

func also(positions ...int32) *card.Rehearsal {
	return &card.Rehearsal{Status: card.Passed, AlsoSets: []card.AlsoSet{{Change: card.Change{Field: "name", Type: card.Text, To: value("X")}, Records: 1, Positions: positions}}}
}

func TestLabelsAreNotInAFingerprint(t *testing.T) {
	other := sealed()
	other.Records[0].Label, other.Records[0].Changes[0].Label = "x", "y"
	if card.Fingerprint(other) != card.Fingerprint(sealed()) {
		t.Error("a label changed the fingerprint")
	}
}

func headline(n card.Noun, records ...card.Record) string {
	return card.Headline(func(string) card.Noun { return n }, records)
}

func TestHeadlines(t *testing.T) {
	role, order := card.Noun{Title: "Role", LabelField: "name"}, card.Noun{Title: "Production order", LabelField: "order_number"}
	one := func(op sqlc.WriteOperation, label string, changes ...card.Change) card.Record {
		return card.Record{Operation: op, Key: "4", Label: label, Changes: changes}
	}
	text := func(field, from, to string) card.Change {
		return card.Change{Field: field, Label: strings.ToUpper(field[:1]) + field[1:], Type: card.Text, From: value(from), To: value(to)}
	}
	date := card.Change{Field: "planned_start", Label: "Planned start", Type: card.Date, From: value("2026-05-31"), To: value("2026-06-02")}
	finish := card.Change{Field: "planned_finish", Label: "Planned finish", Type: card.Date, From: value("2026-06-02"), To: value("2026-06-04")}
	due := card.Change{Field: "due_date", Label: "Due date", Type: card.Date, From: value("2026-06-06"), To: value("2026-06-07")}
	for _, c := range []struct {
		noun   card.Noun
		record card.Record
		want   string
	}{
		{role, one(sqlc.WriteOperationUpdate, "editor", text("name", "editor", "reviewer")), `Rename role "editor" to "reviewer"`},
		{order, one(sqlc.WriteOperationUpdate, "PO-1042", date), `Move planned start of PO-1042 to 2026-06-02, 2 days later`},
		{order, one(sqlc.WriteOperationUpdate, "PO-1042", text("notes", "a", "b")), `Set notes of PO-1042 to b`},
		{order, one(sqlc.WriteOperationUpdate, "PO-1042", text("notes", "a", "b"), date), `Change notes and planned start of production order "PO-1042"`},
		{order, one(sqlc.WriteOperationUpdate, "PO-1042", date, finish), `Move planned start and planned finish of PO-1042, 2 days later`},
		{order, one(sqlc.WriteOperationUpdate, "PO-1042", date, due), `Change planned start and due date of production order "PO-1042"`},
		{order, one(sqlc.WriteOperationUpdate, "", text("notes", "a", "b")), `Set notes of #4 to b`},
		{role, one(sqlc.WriteOperationUpdate, "a", text("name", "a", `x"; Delete role "admin`)), `Rename role "a" to "x\"; Delete role \"admin"`},
		{role, one(sqlc.WriteOperationCreate, "reviewer"), `Create role "reviewer"`},
		{role, one(sqlc.WriteOperationDelete, "temp"), `Delete role "temp"`},
		{role, one(sqlc.WriteOperationDelete, ""), `Delete role #4`},
		{role, one(sqlc.WriteOperationUpdate, "a", text("name", "a", "b\nconfirm \u202e")), `Rename role "a" to "b confirm [RLO]"`},
	} {
		if got := headline(c.noun, c.record); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	long := headline(order, one(sqlc.WriteOperationUpdate, strings.Repeat("x", 500), text("notes", "", strings.Repeat("y", 5000))))
	if n := utf8.RuneCountInString(long); n > card.MaxHeadline {
		t.Errorf("%d characters", n)
	}
}
