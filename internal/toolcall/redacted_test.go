package toolcall_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/policy"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

// A row holds no secret of the input, at whatever depth and however long what it stands in, nor of a tool's name;
// and a model reads none in what it is answered.
func TestARowAndAnAnswerHoldNoSecret(t *testing.T) {
	b := newBadges(t)
	if err := policy.AddPattern(t.Context(), b.Owner, policy.Pattern{Workspace: "harbor-mill", Name: "order numbers", Expression: `PO-[0-9]+`, Matches: []string{"PO-1"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Owner.Exec(t.Context(), `INSERT INTO core.roles (id, site, name, description) VALUES (41111111111111113, 'harbor-mill', 'of PO-2', 'by 4111 1111 1111 1111')`); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Owner.Exec(t.Context(), `UPDATE core.roles SET name = 'of PO-9', description = 'by 4111 1111 1111 1111' WHERE id = 4`); err != nil {
		t.Fatal(err)
	}
	maria := b.Person(t, "maria@harbor.example")
	long := strings.Repeat("a word ", 27) + "4111 1111 1111 1111"
	for _, c := range []struct{ tool, input, row, answer string }{
		{"core_role_update", `{"id": "4", "changes": {"description": "see PO-7 and 4111 1111 1111 1111"}, "note": "cst_0123456789"}`,
			`core_role_update core.role succeeded {"id": "4", "note": "(redacted: token)", "changes": {"description": "see (redacted: order numbers) and (redacted: card number)"}}`, `"headline":"Set description of of (redacted: order numbers) to see (redacted: order numbers) and (redacted: card number)"`},
		{"core_role_update", `{"id": "PO-7", "changes": {"name": "x"}}`, `core_role_update core.role refused RECORD_GONE {"id": "(redacted: order numbers)", "changes": {"name": "x"}}`, `RECORD_GONE`},
		{"core_role_update", `{"id": "4", "changes": {"name": {"a": [{"password": "x", "b": "PO-7", "PO-8": 4111111111111111}]}}}`,
			`core_role_update core.role refused INVALID_INPUT {"id": "4", "changes": {"name": {"a": [{"b": "(redacted: order numbers)", "password": "(redacted: secret)", "(redacted: order numbers)": "(redacted: card number)"}]}}}`, `INVALID_INPUT`},
		{"core_role_update", `{"id": "4", "changes": {"PO-7": 1}}`, `core_role_update core.role refused INVALID_INPUT {"id": "4", "changes": {"(unknown)": true}}`, `"field":"(redacted: order numbers)"`},
		{"core_role_list", `{"where": {"name": "` + long + `"}}`, `core_role_list core.role refused INVALID_INPUT {"where": {"name": "` + strings.Repeat("a word ", 27) + `(redacted: …"}}`, `at most 60`},
		{"core_role_get", `{"id": "41111111111111113"}`, `core_role_get core.role succeeded {"id": "(redacted: card number)"}`, `"label":"of (redacted: order numbers)","values":{"description":"by (redacted: card number)","id":"41111111111111113",`},
		{"core_hang_badge", `{"role": "4", "text": "PO-7", "pin": "1234"}`, `core_hang_badge core.role succeeded {"pin": "(secret)", "role": "4", "text": "(redacted: order numbers)"}`, `"ok":true`},
		{"PO-7 cst_0123456789 " + strings.Repeat("x", 100), `{}`, `(redacted: order numbers) (redacted: token) ` + strings.Repeat("x", 20), `NOT_OFFERED`},
	} {
		result, err := b.tools.Run(t.Context(), maria, toolcall.Origin{Channel: sqlc.ChannelMcp}, c.tool, json.RawMessage(c.input))
		if err != nil {
			t.Fatal(c.input, err)
		}
		if got := b.row(); !strings.HasPrefix(got, c.row) || strings.Contains(got, "PO-") {
			t.Errorf("%s\n has the row %s\n want        %s", c.input, got, c.row)
		}
		if got := string(result.JSON()); !strings.Contains(got, c.answer) || strings.Contains(got, "PO-") || strings.Contains(got, "4111 ") {
			t.Errorf("%s\n is answered %s\n want        %s", c.input, got, c.answer)
		}
	}
}
