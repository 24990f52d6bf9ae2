package record_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/internal/record"
)

// Two sets of the same records, given in opposite orders, and the middle one held: records are locked by
// their keys, so that neither has what the other waits for.
func TestSetsAreLockedByKeyWhateverTheirOrder(t *testing.T) {
	t.Parallel()
	w := harbor(t)
	var there []record.Write
	for key := range 3 {
		there = append(there, w.prepare(t, "mrp.production_order", record.Update, fmt.Sprint(key+1), `{"priority":1}`))
	}
	back := slices.Clone(there)
	slices.Reverse(back)
	ended := make(chan error, 2)
	err := pgx.BeginFunc(t.Context(), w.Owner, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `SELECT FROM mrp.production_orders WHERE id = 2 FOR UPDATE`)
		for n, writes := range [][]record.Write{there, back} {
			go func() { _, err := w.apply(t, writes...); ended <- err }()
			pgtest.WaitBlocked(t, w.DB, n+1)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	missed, written := 0, 0
	for range 2 {
		err, none := <-ended, (*record.NoRow)(nil)
		switch {
		case err == nil:
			written++
		case errors.As(err, &none) && len(none.Indexes) == 3:
			missed++
		default:
			t.Errorf("%v", err)
		}
	}
	if written != 1 || missed != 1 {
		t.Errorf("%d written, %d missed", written, missed)
	}
}

// A set of updates gives each record back in the place of its write, each with its own values.
func TestASetGivesBackEachInItsPlace(t *testing.T) {
	t.Parallel()
	w := harbor(t)
	var writes []record.Write
	for i, key := range []string{"3", "1", "2"} {
		writes = append(writes, w.prepare(t, "mrp.production_order", record.Update, key, fmt.Sprintf(`{"priority":%d,"notes":%q}`, 9-i, `{"a,\b`+key)))
	}
	w.inGate(t, func(ctx context.Context, tx pgx.Tx) {
		got, err := w.registry.Write(ctx, tx, w.maria, writes)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range got {
			if r.Key != writes[i].Key || printed(r.Values["priority"]) != fmt.Sprint(9-i) || printed(r.Values["notes"]) != fmt.Sprintf("%q", `{"a,\b`+r.Key) {
				t.Errorf("%d: %s %v", i, r.Key, r.Values)
			}
		}
	})
}

func TestASetNamesAllThatItMisses(t *testing.T) {
	t.Parallel()
	w := harbor(t)
	var writes []record.Write
	for key := range 4 {
		writes = append(writes, w.prepare(t, "mrp.production_order", record.Update, fmt.Sprint(key+1), `{"priority":1}`))
	}
	mustExec(t, w.DB, `UPDATE mrp.production_orders SET notes = 'x' WHERE id IN (2, 4)`)
	_, err := w.apply(t, writes...)
	missed := (*record.NoRow)(nil)
	if !errors.As(err, &missed) || fmt.Sprint(missed.Indexes) != "[1 3]" {
		t.Errorf("%v", err)
	}
}

// What is drafted together is drafted as each alone would be.
func TestDraftsOfASetAreThoseOfEach(t *testing.T) {
	t.Parallel()
	w := harbor(t)
	e := w.entity(t, "mrp.production_order")
	changes := []record.Change{
		{Entity: e, Operation: record.Update, Key: "2", Values: object(t, `{"priority":1,"notes":null}`)},
		{Entity: e, Operation: record.Update, Key: "1", Values: object(t, `{"priority":3,"notes":"x"}`)},
		{Entity: w.entity(t, "core.role"), Operation: record.Update, Key: "4", Values: object(t, `{"name":"reviewer"}`)},
		{Entity: e, Operation: record.Update, Key: "3", Values: object(t, `{"priority":"7"}`)},
	}
	w.inGate(t, func(ctx context.Context, tx pgx.Tx) {
		together, _, err := w.registry.DraftAll(ctx, tx, w.maria, changes, salt)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range changes {
			alone, err := w.registry.Draft(ctx, tx, w.maria, c, salt)
			if err != nil || !sameDraft(alone, together[i]) {
				t.Errorf("%d: %v\n%+v\n%+v", i, err, alone, together[i])
			}
		}
	})
	changes[1].Key = "99"
	w.inGate(t, func(ctx context.Context, tx pgx.Tx) {
		if _, at, err := w.registry.DraftAll(ctx, tx, w.maria, changes, salt); !errors.Is(err, record.ErrGone) || at != 1 {
			t.Errorf("%d %v", at, err)
		}
	})
}

func sameDraft(a, b *record.Draft) bool {
	return a.Record.Key == b.Record.Key && a.Record.Version == b.Record.Version && fmt.Sprint(a.Record.Values, a.To, a.Changed, a.Labels) == fmt.Sprint(b.Record.Values, b.To, b.Changed, b.Labels)
}
