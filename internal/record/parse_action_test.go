package record

import (
	"strings"
	"testing"
	"time"
)

const withAction = small + `actions:
  core.move_role:
    roles: [MEMBER]
    approval: 2
    lifetime: 45m
    writes:
      core.role: [update, create]
`

func TestParseReadsActions(t *testing.T) {
	d, err := parsed(withAction)
	if err != nil {
		t.Fatal(err)
	}
	a := d.actions[0]
	if a.name != "core.move_role" || a.approval.Needed != 2 || a.lifetime != 45*time.Minute || strings.Join(a.roles, " ") != "MEMBER" || len(a.writes) != 1 || len(a.writes[0].operations) != 2 {
		t.Errorf("%+v", a)
	}
}

func TestParseRefusesActionsWithTheLine(t *testing.T) {
	for _, test := range []struct{ old, new, says string }{
		{"  core.move_role:", "  move_role:", `33: "move_role" has to be module.verb_noun in small letters, digits and _, e.g. mrp.adjust_order, of at most 64 characters`},
		{"    roles: [MEMBER]", "    role: [MEMBER]", `34: action core.move_role has no key "role"; did you mean "roles"?`},
		{"    roles: [MEMBER]", "    roles: [MEMBRE]", `34: action core.move_role: there is no role "MEMBRE"; did you mean "MEMBER"?`},
		{"    roles: [MEMBER]", "    roles: [AUDITOR]", `34: action core.move_role: an AUDITOR proposes nothing; take it out of the roles`},
		{"    approval: 2", "    approval: 10", `35: action core.move_role: approval has to be a whole number from 1 to 9, not "10"`},
		{"      core.role: [update, create]", "      core.rolle: [update]", `38: action core.move_role writes "core.rolle", which is no entity of this file; did you mean "core.role"?`},
		{"[update, create]", "[bulk_update]", `38: action core.move_role: writes: core.role can be opened for create, update, delete, not for "bulk_update"`},
		{"[update, create]", "[updat]", `38: action core.move_role: writes: core.role can be opened for create, update, delete, not for "updat"; did you mean "update"?`},
		{"[update, create]", "[]", `38: action core.move_role: writes: core.role is an empty list`},
		{"    writes:\n      core.role: [update, create]", "    writes: core.role", `37: action core.move_role: writes has to be a mapping from names, not text`},
		{"core.move_role", "core.role_update", `33: action core.role_update and update of core.role would give their tools the same name`},
		{"    table: core.roles\n", "    table: core.roles\n    preview_only: true\n", `39: action core.move_role writes core.role, which is preview_only, so nothing of it is written`},
		{"    write_as: erp_write\n", "", `10: core.role offers a write, but source "erp" has no write_as`},
		{"[list, get, bulk_update]\n    bulk_cap: 5", "[list, get]\n    preview_only: true", `26: core.user: preview_only means nothing without a write among its operations`},
	} {
		content := strings.Replace(withAction, test.old, test.new, 1)
		if content == withAction {
			t.Errorf("%q is not in the file", test.old)
		}
		_, err := parsed(content)
		if err == nil || !strings.Contains("\n"+err.Error()+"\n", "\ncountersign.yaml:"+test.says+"\n") {
			t.Errorf("%q:\n got %v\nwant countersign.yaml:%s", test.new, err, test.says)
		}
	}
}
