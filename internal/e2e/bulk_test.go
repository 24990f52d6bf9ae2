package e2e

import "testing"

// A change of many records: what they get, what they have, and every one of them a page away.
func TestAChangeOfManyIsLookedAtAndConfirmed(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.exec(`INSERT INTO mrp.production_orders (site, order_number, item, quantity, unit, status, priority, planned_start, planned_finish, due_date, notes)
		SELECT 'harbor-mill', 'PO-' || 2000 + i, 'FG-LAGER-20L', 10, 'keg', 'released', i % 4 + 3, '2026-06-08', '2026-06-09', '2026-06-12', 'Note ' || i FROM generate_series(1, 60) i`)
	card := w.propose(maria, fields{"entity": "mrp.production_order", "operation": "BULK_UPDATE", "where": fields{"status": "released"}, "changes": fields{"priority": 2, "notes": nil}})
	b := w.person(maria, withScript)
	b.open(card)
	b.sees("main", "62 records: production order", "where status is released", "×16", "PO-1039")
	b.look("bulk")
	b.press(`main a[href="` + card + `/records"]`)
	b.sees("main", "Records 1 to 50 of 62")
	b.look("bulk-records")
	b.press(`main a[rel="next"]`)
	b.sees("main", "Records 51 to 62 of 62", "PO-2060")
	b.press(`main a[href="` + card + `"]`)
	b.press(confirmButton)
	b.sees("main", "Applied. You confirmed it.")
	w.has("62", `SELECT count(*) FROM mrp.production_orders WHERE priority = 2 AND notes IS NULL`)
}
