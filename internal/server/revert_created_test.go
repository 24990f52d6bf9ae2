package server_test

import "testing"

const millAll = `SELECT string_agg(concat_ws(' ', order_number, trim_scale(quantity), coalesce(notes, '-')), '; ' ORDER BY id) FROM mrp.production_orders WHERE order_number LIKE 'PO-1042%' AND site = 'harbor-mill'`

// split splits an order in two, and confirms that; it gives the key of the new one.
func (c *client) split() (id, key string) {
	c.w.t.Helper()
	id, fingerprint := c.adjust(vars{"order": "PO-1042", "split": vars{"quantity": 180, "start": "2026-06-08"}})
	c.confirmed(id, fingerprint)
	return id, c.w.sql(`SELECT id FROM mrp.production_orders WHERE order_number = 'PO-1042-2'`)
}

// wantConflict wants one thing left as it is.
func (a *answer) wantConflict(key string, of vars) {
	a.t.Helper()
	a.want(vars{"proposeRevert.result.__typename": "Proposal", "proposeRevert.result.revertConflicts.edges.0.node.record.id": key, "proposeRevert.result.revertConflicts.edges.0.node.reason": "CHANGED"})
	for path, value := range of {
		a.want(vars{"proposeRevert.result.revertConflicts.edges.0.node." + path: value})
	}
	if n := len(a.at("proposeRevert.result.revertConflicts.edges").([]any)); n != 1 {
		a.t.Errorf("%d conflicts: %s", n, a.raw)
	}
}

// What was created and edited since is not deleted unseen: whatever was edited, also what the create was not
// given and what is not exposed.
func TestACreatedRecordThatWasEditedStaysUnlessItIsTaken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit string
		as   vars
	}{
		"a field that was given":         {`UPDATE mrp.production_orders SET quantity = 7 WHERE order_number = 'PO-1042-2'`, vars{"field": "quantity", "takes": "quantity"}},
		"a field that was not given":     {`UPDATE mrp.production_orders SET notes = 'theirs' WHERE order_number = 'PO-1042-2'`, vars{"field": nil, "takes": "id", "applied": nil}},
		"a column that nobody is shown":  {`UPDATE mrp.production_orders SET unit_cost = 77 WHERE order_number = 'PO-1042-2'`, vars{"field": nil, "takes": "id"}},
		"nothing, but by another's hand": {`UPDATE mrp.production_orders SET notes = notes WHERE order_number = 'PO-1042-2'`, vars{"field": nil, "takes": "id"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, registryWith(t, "      notes: { writable: true }\n", "      notes:\n")) // no action copies it then
			maria := w.signIn("maria@harbor.example")
			id, key := maria.split()
			w.exec(c.edit)
			edited := w.sql(`SELECT p::text FROM mrp.production_orders p WHERE order_number = 'PO-1042-2'`)

			left := maria.revert(id)
			left.wantConflict(key, c.as)
			left.wantConflict(key, vars{"taken": false})
			maria.confirmed(left.text("proposeRevert.result.id"), left.text("proposeRevert.result.fingerprint")).want(vars{"confirmProposal.result.outcome.affectedRecords": 1})
			if now := w.sql(`SELECT p::text FROM mrp.production_orders p WHERE order_number = 'PO-1042-2'`); now != edited {
				t.Errorf("it was %s and is %s", edited, now)
			}

			taken := maria.revert(id, c.as["takes"].(string))
			taken.wantConflict(key, vars{"taken": true})
			maria.confirmed(taken.text("proposeRevert.result.id"), taken.text("proposeRevert.result.fingerprint")).want(vars{"confirmProposal.result.outcome.affectedRecords": 1})
			if n := w.sql(`SELECT count(*) FROM mrp.production_orders WHERE order_number = 'PO-1042-2'`); n != "0" {
				t.Error("it is still there")
			}
			w.invariants()
		})
	}
}

func TestARecordCreatedAloneAndEditedOutOfSightStays(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.exec(`ALTER TABLE core.roles ADD COLUMN unseen text`)
	deletable(t, w)
	maria := w.signIn("maria@harbor.example")
	id := maria.applied(vars{"entity": "core.role", "operation": "CREATE", "changes": vars{"name": "night shift"}})
	w.exec(`ALTER TABLE core.roles DISABLE TRIGGER USER`) // which would set updated_at, which is exposed
	w.exec(`UPDATE core.roles SET unseen = 'theirs' WHERE name = 'night shift'`)
	maria.revert(id).wantNoRevert("NOTHING_TO_CHANGE", "takeFields")
	taken := maria.revert(id, "id")
	taken.wantConflict(w.sql(`SELECT id FROM core.roles WHERE name = 'night shift'`), vars{"field": nil, "taken": true})
	maria.confirmed(taken.text("proposeRevert.result.id"), taken.text("proposeRevert.result.fingerprint"))
	w.invariants()
}

// What the database did to it along with the write is no edit: triggers after it, and constraints at its end.
func TestWhatTheDatabaseDoesToANewRecordIsNoEdit(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.exec(`CREATE FUNCTION mrp.number_it() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
		BEGIN UPDATE mrp.production_orders SET unit_cost = coalesce(unit_cost, 0) + 1 WHERE id = NEW.id; RETURN NULL; END $$`)
	w.exec(`CREATE CONSTRAINT TRIGGER number_it AFTER INSERT ON mrp.production_orders DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mrp.number_it()`)
	maria := w.signIn("maria@harbor.example")
	was := w.sql(millAll)
	id, _ := maria.split()
	undo, fingerprint := maria.reverted(id)
	maria.confirmed(undo, fingerprint).want(vars{"confirmProposal.result.outcome.affectedRecords": 2})
	if now := w.sql(millAll); now != was {
		t.Errorf("the mill is %s and was %s", now, was)
	}
	w.invariants()
}
