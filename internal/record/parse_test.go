package record

import (
	"strings"
	"testing"
	"time"
)

// small is a file with nothing wrong in it; each test changes a line of it.
const small = `assistant:
  enabled: true
  provider: offline
sources:
  erp:
    read_as: erp_read
    write_as: erp_write
    settings:
      app.site: "{workspace.slug}"
entities:
  core.role:
    table: core.roles
    label: name
    operations:
      list:
      get:
      update: { roles: [MEMBER] }
      delete: { approval: 1 }
    fields:
      name: { writable: true }
      site: { hidden: true }
  core.user:
    table: core.users
    key: id
    operations: [list, get, bulk_update]
    bulk_cap: 5
    lifetime: 45m
    locked:
      status: [gone, away]
    fields:
      role_id: { references: core.role, writable: true }
`

func parsed(content string) (*document, error) {
	problems := &Problems{File: "countersign.yaml"}
	d := parse([]byte(content), problems)
	return d, problems.err()
}

func TestParseRefusesWithTheLine(t *testing.T) {
	for _, test := range []struct{ old, new, says string }{
		{"  enabled: true", "  enabeld: true", `2: assistant has no key "enabeld"; did you mean "enabled"?`},
		{"  enabled: true", "  enabled: yes", `2: assistant: enabled has to be true or false, not text`},
		{"  enabled: true", "  enabled: 1", `2: assistant: enabled has to be true or false, not a number`},
		{"provider: offline", "provider: ofline", `3: assistant: provider can be offline or openai or anthropic, not "ofline"; did you mean "offline"?`},
		{"provider: offline", "provider: offline\n  provider: openai", `4: "provider" is said twice; the first time is line 3`},
		{"sources:", "source:", `4: the file has no key "source"; did you mean "sources"?`},
		{"  erp:", "  Erp ERP:", `5: source "Erp ERP" has to be named in small letters, digits and _`},
		{"    read_as: erp_read\n", "", `5: source "erp" says no read_as, e.g. read_as: erp_read`},
		{"    write_as: erp_write\n", "", `10: core.role offers a write, but source "erp" has no write_as`},
		{"app.site:", "appsite:", `9: source "erp": settings: "appsite" is not the name of a setting of the host's own, e.g. app.site`},
		{"app.site:", "role:", `9: source "erp": settings: "role" is not the name of a setting of the host's own, e.g. app.site`},
		{"app.site:", "countersign.workspace:", `9: source "erp": settings: "countersign.workspace" belongs to countersign itself`},
		{"{workspace.slug}", "{workspace.slog}", `9: source "erp": settings: app.site: there is no {workspace.slog}; did you mean "workspace.slug"?`},
		{"{workspace.slug}", "{workspace.slug", `9: source "erp": settings: app.site: a template has names in braces, e.g. {key}`},
		{"  core.role:", "  role:", `11: "role" has to be module.entity in small letters, digits and _, e.g. core.role, of at most 52 characters`},
		{"    table: core.roles\n", "", `11: core.role says no table, e.g. table: core.roles`},
		{"    table: core.roles", "    table: [core.roles]", `12: core.role: table has to be a text, not a list`},
		{"    table: core.roles", "    table: core.roles\n    source: epr", `13: core.role: there is no source "epr"; did you mean "erp"?`},
		{"      update: {", "      updat: {", `17: core.role: there is no operation "updat"; did you mean "update"?`},
		{"      update: {", "      approve: {", `17: core.role: there is no operation "approve"`},
		{"roles: [MEMBER]", "roles: [member]", `17: core.role: update: there is no role "member"; did you mean "MEMBER"?`},
		{"roles: [MEMBER]", "roles: [MEMBER, AUDITOR]", `17: core.role: an AUDITOR proposes nothing; take it out of the roles of update`},
		{"roles: [MEMBER]", "roles: []", `17: core.role: update: roles is an empty list`},
		{"approval: 1", "approval: many", `18: core.role: delete: approval has to be a whole number from 1 to 9, not "many"`},
		{"approval: 1", "approval: 0", `18: core.role: delete: approval has to be a whole number from 1 to 9, not "0"`},
		{"approval: 1", "approval: 10", `18: core.role: delete: approval has to be a whole number from 1 to 9, not "10"`},
		{"approval: 1", "approval: true", `18: core.role: delete: approval has to be a whole number from 1 to 9, not "true"`},
		{"approval: 1", "approval: [1]", `18: core.role: delete: approval has to be a text, not a list`},
		{"approval: 1", "approval: { counts: 2 }", `18: core.role: delete: approval has no key "counts"; did you mean "count"?`},
		{"approval: 1", "approval: { count: 0 }", `18: core.role: delete: approval: count has to be a whole number from 1 to 9, not "0"`},
		{"approval: 1", "approval: { role: APROVER }", `18: core.role: delete: approval: role can be APPROVER or MEMBER or OPERATOR, not "APROVER"; did you mean "APPROVER"?`},
		{"approval: 1", "approval: { role: AUDITOR }", `18: core.role: delete: approval: role can be APPROVER or MEMBER or OPERATOR, not "AUDITOR"`},
		{"approval: 1", "approval: { lifetime: 91d }", `18: core.role: delete: approval: lifetime has to be between 1s and 90d, e.g. 7d, not "91d"`},
		{"approval: 1", "approval: { lifetime: d }", `18: core.role: delete: approval: lifetime has to be between 1s and 90d, e.g. 7d, not "d"`},
		{"approval: 1", "approval: { lifetime: 7 days }", `18: core.role: delete: approval: lifetime has to be between 1s and 90d, e.g. 7d, not "7 days"`},
		{"approval: 1", "approval: { lifetime: 0d }", `18: core.role: delete: approval: lifetime has to be between 1s and 90d, e.g. 7d, not "0d"`},
		{"      get:\n", "      get: { approval: 1 }\n", `16: core.role: get changes nothing, so nobody has to approve it`},
		{"name: { writable: true }", "name: { writeable: true }", `20: core.role: field "name" has no key "writeable"; did you mean "writable"?`},
		{"name: { writable: true }", "name: writable", `20: core.role: field "name" has to be a mapping of keys and values, not text`},
		{"name: { writable: true }", "name: { required: true }", `20: core.role: field "name": required means nothing, since it is not writable`},
		{"site: { hidden: true }", "site: { hidden: true, writable: true }", `21: core.role: field "site" is hidden, so it cannot be writable, masked or a reference`},
		{"site: { hidden: true }", "name: {}", `21: "name" is said twice; the first time is line 20`},
		{"site: { hidden: true }", "the site: { hidden: true }", `21: core.role: field "the site" has to be named in letters, digits and _; say which column it is with column`},
		{"  core.user:", "  core.role:", `22: "core.role" is said twice; the first time is line 11`},
		{"  core.user:", "  core_role.x:\n    table: a.b\n    operations: [get]\n    fields: {x: }\n  core.role_x:\n    table: a.b\n    operations: [get]\n    fields: {x: }\n  core.user:", `26: core.role_x and core_role.x would give their tools the same name, core_role_x; rename one`},
		{"    operations: [list, get, bulk_update]\n    bulk_cap: 5", "    bulk_cap: 5", `22: core.user offers nothing; say operations, e.g. operations: [list, get]`},
		{"[list, get, bulk_update]", "[list, get, list, bulk_update]", `25: core.user: operation list is said twice`},
		{"[list, get, bulk_update]", "[list, get]", `26: core.user: bulk_cap means nothing without the operation bulk_update`},
		{"bulk_cap: 5", "bulk_cap: 1000000", `26: core.user: bulk_cap has to be a whole number from 1 to 10000, not "1000000"`},
		{"bulk_cap: 5", "approval: { bulk_update: { count: x } }", `26: core.user: approval: bulk_update: count has to be a whole number from 1 to 9, not "x"`},
		{"lifetime: 45m", "lifetime: 31d", `27: core.user: lifetime has to be between 1s and 30d, e.g. 30m, not "31d"`},
		{"bulk_cap: 5", "approval: { delete: 1 }", `26: core.user: approval of delete means nothing, since it is not among the operations`},
		{"lifetime: 45m", "lifetime: 45 minutes", `27: core.user: lifetime has to be between 1s and 30d, e.g. 30m, not "45 minutes"`},
		{"lifetime: 45m", "lifetime: 0s", `27: core.user: lifetime has to be between 1s and 30d, e.g. 30m, not "0s"`},
		{"lifetime: 45m", "confirm: EVERYBODY", `27: core.user: confirm can be OWNER or WORKSPACE, not "EVERYBODY"`},
		{"lifetime: 45m", "rows: all", `27: core.user: rows can be person or workspace, not "all"`},
		{"lifetime: 45m", "cites: maybe", `27: core.user: cites has to be true or false, not text`},
		{"lifetime: 45m", "rehearse: 0", `27: core.user: rehearse has to be true or false, not a number`},
		{"lifetime: 45m", "rehearses: false", `27: core.user has no key "rehearses"; did you mean "rehearse"?`},
		{"lifetime: 45m", "lifetime: &x 45m", `27: anchors, aliases, tags and special numbers have no place here; write the value out`},
		{"lifetime: 45m", "<<: {a: 1}", `27: anchors, aliases, tags and special numbers have no place here; write the value out`},
		{"references: core.role", "references: core.rolle", `31: core.user: field "role_id" references "core.rolle", which is no entity of this file; did you mean "core.role"?`},
		{small, "", `1: the file is empty; it has to say assistant, sources and entities`},
		{small, "# nothing\n", `1: the file is empty; it has to say assistant, sources and entities`},
		{small, "- a\n- b\n", `1: the file has to be a mapping of keys and values, not a list`},
		{small, "assistant: {enabled: false}\n", `1: the file says no sources`},
		{small, small + "---\na: b\n", `33: one document is enough; take the second one out`},
		{"sources:\n", "sources:\n\t\n", `5: this is not YAML: `},
		{"  core.user:\n", "  core.user: {\n", `24: this is not YAML: `},
	} {
		content := strings.Replace(small, test.old, test.new, 1)
		if content == small {
			t.Errorf("%q is not in the file", test.old)
		}
		_, err := parsed(content)
		if err == nil || !strings.Contains("\n"+err.Error()+"\n", "\ncountersign.yaml:"+strings.TrimSuffix(test.says+"\n", " \n")) {
			t.Errorf("%q:\n got %v\nwant countersign.yaml:%s", test.new, err, test.says)
		}
	}
}

func TestParseSaysEverythingThatIsWrongInTheOrderOfItsLines(t *testing.T) {
	_, err := parsed(strings.NewReplacer("enabled: true", "enabled: 3", "lifetime: 45m", "lifetime: x", "hidden: true", "hiden: true").Replace(small))
	want := `countersign.yaml:2: assistant: enabled has to be true or false, not a number
countersign.yaml:21: core.role: field "site" has no key "hiden"; did you mean "hidden"?
countersign.yaml:27: core.user: lifetime has to be between 1s and 30d, e.g. 30m, not "x"`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestParseReadsTheFile(t *testing.T) {
	d, err := parsed(small)
	if err != nil {
		t.Fatal(err)
	}
	role, user := d.entities[0], d.entities[1]
	if !d.assistant.Enabled || d.assistant.Provider != "offline" || d.sources[0].ReadAs != "erp_read" || len(d.entities) != 2 {
		t.Errorf("%+v", d)
	}
	if role.title != "Role" || role.plural != "Roles" || role.lifetime != 30*time.Minute || role.confirm != ConfirmOwner || !role.cites || role.operations[Delete].approval.Needed != 1 {
		t.Errorf("%+v", role)
	}
	if user.bulkCap != 5 || user.lifetime != 45*time.Minute || user.locked[0].column.text != "status" || len(user.locked[0].values) != 2 || user.fields[0].label != "Role" {
		t.Errorf("%+v", user)
	}
}

func TestHumanise(t *testing.T) {
	for name, want := range map[string]string{"order_number": "Order number", "id": "ID", "url": "URL", "user_id": "User ID", "_": "_", "x": "X"} {
		if got := humanise(name); got != want {
			t.Errorf("%s is called %s", name, got)
		}
	}
	for title, want := range map[string]string{"Role": "Roles", "Category": "Categories", "Day": "Days", "Address": "Addresses", "y": "ies"} {
		if got := plural(title); got != want {
			t.Errorf("several %s are called %s", title, got)
		}
	}
}

func TestSplitTable(t *testing.T) {
	for text, want := range map[string]string{`core.roles`: "core|roles", `"a.b"."c""d"`: `a.b|c"d`, `core."Order Items"`: "core|Order Items", `"x".y`: "x|y"} {
		schema, name, ok := splitTable(text)
		if !ok || schema+"|"+name != want {
			t.Errorf("%s is %q, %q", text, schema, name)
		}
	}
	for _, text := range []string{"roles", "", ".", "a.", ".b", "a.b.c", `"a.b`, `"".b`, `a."b"c`, `a"b".c`} {
		if schema, name, ok := splitTable(text); ok {
			t.Errorf("%s is %q, %q", text, schema, name)
		}
	}
}

// Whatever the file holds, it is read or refused with lines that it has.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	for _, seed := range []string{"a: b", "entities: {a.b: {fields: [x]}}", "sources: null", "? {a: b}\n: c", "a: !!binary x", "entities: {core.role: }", "{}", "- ", "assistant: [", "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		problems := &Problems{File: "x"}
		parse(content, problems)
		for _, p := range problems.List {
			if p.Line < 1 || p.Line > strings.Count(string(content), "\n")+strings.Count(string(content), "\r")+2 || p.Sentence == "" {
				t.Errorf("%d: %s", p.Line, p.Sentence)
			}
		}
	})
}

func TestApprovalIsReadInItsForms(t *testing.T) {
	for written, want := range map[string]Approval{
		"approval: 1":          {1, "approver", 7 * day},
		"approval: 3":          {3, "approver", 7 * day},
		"approval: {}":         {1, "approver", 7 * day},
		"approval:":            {1, "approver", 7 * day},
		"approval: {count: 2}": {2, "approver", 7 * day},
		"approval: {role: OPERATOR, lifetime: 36h}":         {1, "operator", 36 * time.Hour},
		"approval: {count: 2, role: MEMBER, lifetime: 90d}": {2, "member", 90 * day},
		"approval: {lifetime: 1d12h}":                       {1, "approver", 36 * time.Hour},
	} {
		d, err := parsed(strings.Replace(small, "approval: 1", written, 1))
		if err != nil {
			t.Errorf("%s: %v", written, err)
			continue
		}
		role := d.entities[0]
		if got := role.operations[Delete].approval; got != want {
			t.Errorf("%s: %+v, want %+v", written, got, want)
		}
		if got := role.operations[Update].approval; got != none() {
			t.Errorf("%s: an update needs %+v", written, got)
		}
	}
}
