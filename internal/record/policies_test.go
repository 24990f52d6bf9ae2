package record

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// mill offers of one entity all there is, and one action that writes it.
func mill() *Registry {
	all := func(needed int32, of ...string) offer {
		return offer{roles: of, approval: Approval{Needed: needed, Role: "approver", Lifetime: 7 * day}}
	}
	e := &Entity{Name: "core.role", Title: "Role", Plural: "Roles", Lifetime: 30 * time.Minute, BulkCap: 100,
		Fields: []*Field{{Name: "id"}, {Name: "name", Writable: true}, {Name: "description", Writable: true}},
		offers: map[Operation]offer{List: all(0, roles...), Get: all(0, roles...), Create: all(0, "MEMBER", "OPERATOR"), Update: all(0, "MEMBER", "APPROVER", "OPERATOR"),
			Delete: all(2, "MEMBER", "OPERATOR"), BulkUpdate: all(1, "OPERATOR")}}
	reads := &Entity{Name: "core.user", offers: map[Operation]offer{List: all(0, roles...), Get: all(0, roles...)}, Fields: []*Field{{Name: "id"}}}
	a := &CustomAction{Name: "core.tidy_roles", Lifetime: time.Hour, offer: all(1, "MEMBER", "OPERATOR"), writes: map[string][]Operation{"core.role": {Update}}}
	return &Registry{entities: []*Entity{e, reads}, byName: map[string]*Entity{e.Name: e, reads.Name: reads}, actions: []*CustomAction{a}}
}

func policies(list ...Policy) Policies { return Policies{list: list} }

func TestEachPartOfAPolicyNarrows(t *testing.T) {
	e, _ := mill().Entity("core.role")
	writable := func(e *Entity) string {
		var list []string
		for _, f := range e.Fields {
			if f.Writable {
				list = append(list, f.Name)
			}
		}
		return strings.Join(list, " ")
	}
	for _, c := range []struct {
		name   string
		policy Policy
		op     Operation
		holds  func(e *Entity) bool
	}{
		{"switched off", Policy{Operation: Update, SwitchedOff: true}, Update, func(e *Entity) bool { return !e.Has(Update) && e.Has(Create) }},
		{"switched off, all of it", Policy{SwitchedOff: true}, List, func(e *Entity) bool { return !e.Has(List) }},
		{"preview only", Policy{PreviewOnly: true}, Create, func(e *Entity) bool { return e.PreviewOnly }},
		{"preview only means nothing to a reading", Policy{PreviewOnly: true}, Get, func(e *Entity) bool { return !e.PreviewOnly }},
		{"approval", Policy{Approvals: 1}, Update, func(e *Entity) bool {
			return e.Approval(Update) == Approval{Needed: 1, Role: "approver", Lifetime: 7 * day}
		}},
		{"fewer approvals than there are", Policy{Approvals: 1, Approver: "member"}, Delete, func(e *Entity) bool {
			return e.Approval(Delete) == Approval{Needed: 2, Role: "approver", Lifetime: 7 * day}
		}},
		{"of a higher role", Policy{Approvals: 1, Approver: "operator"}, Delete, func(e *Entity) bool {
			return e.Approval(Delete) == Approval{Needed: 2, Role: "operator", Lifetime: 7 * day}
		}},
		{"fewer fields", Policy{Fields: []string{"name"}}, Update, func(e *Entity) bool { return writable(e) == "name" }},
		{"no field", Policy{Fields: []string{}}, Update, func(e *Entity) bool { return writable(e) == "" && len(e.Fields) == 3 }},
		{"a field more", Policy{Fields: []string{"name", "id", "salary"}}, Update, func(e *Entity) bool { return writable(e) == "name" && len(e.Fields) == 3 }},
		{"fewer at once", Policy{BulkCap: 10}, BulkUpdate, func(e *Entity) bool { return e.BulkCap == 10 }},
		{"more at once", Policy{BulkCap: 1000}, BulkUpdate, func(e *Entity) bool { return e.BulkCap == 100 }},
		{"a shorter life", Policy{Lifetime: 90}, Delete, func(e *Entity) bool { return e.Lifetime == 90*time.Second }},
		{"a longer life", Policy{Lifetime: 7200}, Delete, func(e *Entity) bool { return e.Lifetime == 30*time.Minute }},
		{"fewer roles", Policy{Roles: []string{"operator"}}, Update, func(e *Entity) bool {
			return e.Offers(Update, "operator") && !e.Offers(Update, "member") && !e.Offers(Update, "approver")
		}},
		{"no role", Policy{Roles: []string{}}, Get, func(e *Entity) bool { return e.Has(Get) && !e.Offers(Get, "operator") }},
		{"another role", Policy{Roles: []string{"auditor", "approver"}}, Create, func(e *Entity) bool { return e.Has(Create) && len(e.offers[Create].roles) == 0 }},
	} {
		c.policy.Entity = "core.role"
		if before := reflect.ValueOf(*e).Interface(); !c.holds(e.Under(policies(c.policy), c.op)) || !reflect.DeepEqual(before, *e) {
			t.Errorf("%s: does not hold, or changed the registry's own", c.name)
		}
	}
}

func TestWhatAPolicyBearsOn(t *testing.T) {
	r := mill()
	e, _ := r.Entity("core.role")
	a, _ := r.Action("core.tidy_roles")
	for _, c := range []struct {
		name   string
		policy Policy
		off    []Operation
	}{
		{"an entity", Policy{Entity: "core.role"}, []Operation{List, Get, Create, Update, Delete, BulkUpdate, Action}},
		{"another entity", Policy{Entity: "core.user"}, nil},
		{"its reading", Policy{Entity: "core.role", Operation: Get}, []Operation{Get}},
		{"a change of one, and so of many", Policy{Entity: "core.role", Operation: Update}, []Operation{Update, BulkUpdate}},
		{"a change of many", Policy{Entity: "core.role", Operation: BulkUpdate}, []Operation{BulkUpdate}},
		{"a tool", Policy{Tool: "core_role_delete"}, []Operation{Delete}},
		{"the tool that changes one, and so many", Policy{Tool: "core_role_update"}, []Operation{Update, BulkUpdate}},
		{"the tool that changes many", Policy{Tool: "core_role_bulk_update"}, []Operation{BulkUpdate}},
		{"an action by its name", Policy{Tool: "core.tidy_roles"}, []Operation{Action}},
		{"an action by its tool's", Policy{Tool: "core_tidy_roles"}, []Operation{Action}},
		{"a tool of another entity", Policy{Tool: "core_user_get"}, nil},
	} {
		c.policy.SwitchedOff = true
		p := policies(c.policy)
		var off []Operation
		for _, op := range Operations {
			if p.Off(e, op) != !e.Under(p, op).Has(op) {
				t.Errorf("%s: Off and Under do not agree on %s", c.name, op)
			}
			if p.Off(e, op) {
				off = append(off, op)
			}
		}
		if p.ActionOff(a, e) {
			off = append(off, Action)
		}
		if !slices.Equal(off, c.off) {
			t.Errorf("%s switches off %v, want %v", c.name, off, c.off)
		}
	}
}

func TestAnActionIsNarrowedToo(t *testing.T) {
	r := mill()
	e, _ := r.Entity("core.role")
	a, _ := r.Action("core.tidy_roles")
	got := a.Under(policies(Policy{Tool: "core.tidy_roles", Approvals: 2, Lifetime: 60}, Policy{Entity: "core.role", Roles: []string{"operator"}, PreviewOnly: true}), e)
	if got.Approval().Needed != 2 || got.Lifetime != time.Minute || got.Offers("member") || !got.Offers("operator") || got.Opens(e, Update) {
		t.Errorf("it became %+v", got)
	}
	if !a.Opens(e, Update) || !a.Offers("member") || a.Lifetime != time.Hour || a.Approval().Needed != 1 {
		t.Errorf("the registry's own became %+v", a)
	}
	if a.Under(policies(Policy{Entity: "core.user", SwitchedOff: true}), e) != a {
		t.Error("a policy about something else made another of it")
	}
}

// any policy, of those that the table takes: also one that would give more than there is.
func anyPolicy() *rapid.Generator[Policy] {
	return rapid.Custom(func(t *rapid.T) Policy {
		p := Policy{SwitchedOff: rapid.IntRange(0, 9).Draw(t, "off") == 0, PreviewOnly: rapid.IntRange(0, 4).Draw(t, "preview") == 0}
		switch rapid.IntRange(0, 3).Draw(t, "about") {
		case 0:
			p.Tool = rapid.SampledFrom([]string{"core_role_update", "core_role_bulk_update", "core_role_delete", "core_tidy_roles", "core.tidy_roles"}).Draw(t, "tool")
		case 1:
			p.Entity = "core.role"
		default:
			p.Entity, p.Operation = "core.role", rapid.SampledFrom(Operations).Draw(t, "operation")
		}
		if p.Approvals = rapid.Int32Range(0, 9).Draw(t, "approvals"); p.Approvals > 0 {
			p.Approver = rapid.SampledFrom([]string{"", "member", "approver", "operator"}).Draw(t, "approver")
		}
		some := func(of ...string) []string {
			if rapid.Bool().Draw(t, "said") {
				return rapid.SliceOfDistinct(rapid.SampledFrom(of), func(s string) string { return s }).Draw(t, "of")
			}
			return nil
		}
		p.Fields, p.Roles = some("id", "name", "description", "salary"), some("member", "approver", "operator", "auditor")
		p.BulkCap = rapid.IntRange(0, 200).Draw(t, "cap")
		p.Lifetime = float64(rapid.IntRange(0, 7200).Draw(t, "lifetime"))
		return p
	})
}

// Whatever policies leave, the registry offered; and a policy more leaves no more.
func TestNoPolicyWidens(t *testing.T) {
	r := mill()
	e, _ := r.Entity("core.role")
	a, _ := r.Action("core.tidy_roles")
	before, _ := mill().Entity("core.role")
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(anyPolicy(), 1, 4).Draw(t, "policies")
		op := rapid.SampledFrom(Operations).Draw(t, "operation")
		all, fewer := policies(list...), policies(list[1:]...)
		for _, wide := range []*Entity{e, e.Under(fewer, op)} {
			if why := widened(wide, e.Under(all, op), op); why != "" {
				t.Fatalf("%s of %s", why, op)
			}
		}
		for _, wide := range []*CustomAction{a, a.Under(fewer, e)} {
			narrow := a.Under(all, e)
			if why := widenedOffer(wide.offer, narrow.offer); why != "" || narrow.Lifetime > wide.Lifetime || narrow.Opens(e, Update) && !wide.Opens(e, Update) || narrow.Opens(e, Delete) {
				t.Fatalf("the action: %s", why)
			}
		}
		if !reflect.DeepEqual(e, before) {
			t.Fatal("the registry's own is another")
		}
	})
}

func widened(wide, narrow *Entity, op Operation) string {
	o, offered := narrow.offers[op]
	had, was := wide.offers[op]
	switch {
	case offered && !was:
		return "offered"
	case narrow.BulkCap > wide.BulkCap:
		return "a higher cap"
	case narrow.Lifetime > wide.Lifetime:
		return "a longer life"
	case wide.PreviewOnly && !narrow.PreviewOnly:
		return "no preview any more"
	case len(narrow.Fields) != len(wide.Fields):
		return "other fields"
	}
	for i, f := range narrow.Fields {
		if f.Writable && !wide.Fields[i].Writable || f.Name != wide.Fields[i].Name {
			return "a field more"
		}
	}
	if !offered {
		return ""
	}
	return widenedOffer(had, o)
}

func widenedOffer(had, o offer) string {
	for _, role := range o.roles {
		if !slices.Contains(had.roles, role) {
			return "a role more"
		}
	}
	was, is := had.approval, o.approval
	if is.Needed < was.Needed || was.Needed > 0 && (is.Lifetime > was.Lifetime || slices.Index(ranks, is.Role) < slices.Index(ranks, was.Role)) {
		return "less approval"
	}
	return ""
}

// What Narrows lets be saved is no wider in any part than what there is, for anything that it is about.
func TestWhatIsSavedIsNarrowerInEachPart(t *testing.T) {
	r := mill()
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy().Draw(t, "policy")
		if r.Narrows(p) != nil {
			return
		}
		subjects, err := r.subjects(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range subjects {
			switch {
			case !s.op.Writes():
			case p.Approvals > 0 && p.Approvals < s.offer.approval.Needed:
				t.Fatalf("%s: fewer approvals", s.name)
			case s.lifetime > 0 && time.Duration(p.Lifetime)*time.Second > s.lifetime:
				t.Fatalf("%s: a longer life", s.name)
			case s.op == BulkUpdate && p.BulkCap > s.entity.BulkCap:
				t.Fatalf("%s: a higher cap", s.name)
			case slices.Contains(p.Fields, "id") || slices.Contains(p.Fields, "salary"):
				t.Fatalf("%s: a field more", s.name)
			}
		}
	})
}

func TestWhatIsNoPolicyNamesItsPart(t *testing.T) {
	r := mill()
	for _, c := range []struct {
		name   string
		policy Policy
		part   string
		says   string
	}{
		{"about nothing", Policy{SwitchedOff: true}, "entity", "is about an entity"},
		{"about two things", Policy{Entity: "core.role", Tool: "core_role_get", SwitchedOff: true}, "entity", "is about an entity"},
		{"no such entity", Policy{Entity: "core.rolle", SwitchedOff: true}, "entity", `there is no entity core.rolle; did you mean "core.role"?`},
		{"no such operation", Policy{Entity: "core.user", Operation: Update, SwitchedOff: true}, "operation", "core.user does not offer update"},
		{"no such tool", Policy{Tool: "core_role_approve", SwitchedOff: true}, "tool", "there is no tool core_role_approve"},
		{"nothing said", Policy{Entity: "core.role"}, "", "says nothing"},
		{"an approver of none", Policy{Entity: "core.role", Approver: "operator"}, "approver", "how many"},
		{"fewer approvals", Policy{Entity: "core.role", Operation: Delete, Approvals: 1}, "approvals", "needs 2 approvals already"},
		{"fewer approvals of an action", Policy{Tool: "core.tidy_roles", Approvals: 1, Approver: "member"}, "approver", "stricter"},
		{"too many approvals", Policy{Entity: "core.role", Operation: Update, Approvals: 10}, "approvals", "at most 9"},
		{"approval of a lower role", Policy{Entity: "core.role", Operation: Delete, Approvals: 2, Approver: "member"}, "approver", "stricter"},
		{"a longer life", Policy{Entity: "core.role", Lifetime: 1801}, "lifetime", "lives 30m0s already"},
		{"a longer life of an action", Policy{Tool: "core_tidy_roles", Lifetime: 3601}, "lifetime", "lives 1h0m0s already"},
		{"half a second", Policy{Entity: "core.role", Lifetime: 0.5}, "lifetime", "at least a second"},
		{"a higher cap", Policy{Entity: "core.role", BulkCap: 101}, "bulk_cap", "at most 100 records already"},
		{"a cap of one", Policy{Entity: "core.role", Operation: Update, BulkCap: 10}, "bulk_cap", "means nothing"},
		{"a field that is not writable", Policy{Entity: "core.role", Fields: []string{"name", "id"}}, "fields", `no writable field "id"`},
		{"a field that is none", Policy{Entity: "core.role", Fields: []string{"salary"}}, "fields", `no writable field "salary"`},
		{"fields of an action", Policy{Tool: "core.tidy_roles", Fields: []string{"name"}}, "fields", "narrow the entity's"},
		{"no fields of an action", Policy{Tool: "core.tidy_roles", Fields: []string{}}, "fields", "narrow the entity's"},
		{"a role that is none", Policy{Entity: "core.role", Roles: []string{"boss"}}, "roles", "there is no role boss"},
		{"an auditor who proposes", Policy{Entity: "core.role", Operation: Update, Roles: []string{"auditor"}}, "roles", "an auditor proposes nothing"},
		{"a reading that is approved", Policy{Entity: "core.role", Operation: Get, Approvals: 1}, "operation", "reading needs no approval"},
		{"less than none", Policy{Entity: "core.role", BulkCap: -1, SwitchedOff: true}, "", "a number is 1 or more"},
	} {
		refused := (*NotNarrower)(nil)
		if err := r.Narrows(c.policy); !errors.As(err, &refused) || refused.Part != c.part || !strings.Contains(refused.Message, c.says) {
			t.Errorf("%s: %v of %+v, want %q of %q", c.name, err, refused, c.says, c.part)
		}
	}
	for _, p := range []Policy{
		{Entity: "core.role", SwitchedOff: true}, {Tool: "core.tidy_roles", SwitchedOff: true}, {Entity: "core.role", Operation: Get, Roles: []string{"auditor", "operator"}},
		{Entity: "core.role", Operation: Delete, Approvals: 2}, {Entity: "core.role", Lifetime: 1800}, {Entity: "core.role", BulkCap: 100}, {Entity: "core.role", Fields: []string{}},
		{Entity: "core.role", Operation: Delete, Approvals: 3, Approver: "operator"}, {Tool: "core_user_get", Roles: []string{}},
	} {
		if err := r.Narrows(p); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

func TestPoliciesAreReadAsTheDatabaseGivesThem(t *testing.T) {
	p, err := PoliciesOf(7, json.RawMessage(`[{"entity": "core.role", "operation": null, "tool": null, "switched_off": false, "preview_only": true, "approvals": null, "approver": null, "fields": [], "bulk_cap": null, "lifetime": 90.5, "roles": null}]`))
	want := Policy{Entity: "core.role", PreviewOnly: true, Fields: []string{}, Lifetime: 90.5}
	if err != nil || p.Version != 7 || len(p.list) != 1 || !reflect.DeepEqual(p.list[0], want) {
		t.Errorf("read as %+v, %v", p, err)
	}
	if _, err := PoliciesOf(1, json.RawMessage(`{`)); err == nil {
		t.Error("what cannot be read is no policy, and no error")
	}
}

func TestTheStricterApprovalHolds(t *testing.T) {
	of := func(n int32, role string, days time.Duration) Approval {
		return Approval{Needed: n, Role: role, Lifetime: days * 24 * time.Hour}
	}
	none := of(0, "approver", 7)
	for _, c := range []struct{ a, b, want Approval }{
		{none, none, none},
		{none, of(1, "member", 9), of(1, "member", 9)},
		{of(2, "approver", 7), of(1, "operator", 2), of(2, "operator", 2)},
		{of(1, "approver", 7), of(1, "member", 7), of(1, "approver", 7)},
	} {
		for _, got := range []Approval{c.a.And(c.b), c.b.And(c.a)} {
			if got != c.want {
				t.Errorf("%v and %v: %v", c.a, c.b, got)
			}
		}
	}
}
