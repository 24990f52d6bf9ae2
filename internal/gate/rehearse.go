package gate

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// rehearse tries the change as a confirm would write it, has it undone, and keeps what was seen. What the
// database would refuse is a *Refusal. A rehearsal that had to wait stops nothing.
func (d *drafted) rehearse(ctx context.Context, g *Gate, tx pgx.Tx, by identity.Actor, in Intent, salt []byte) error {
	if d.preview || !d.rehearses() {
		d.rehearsal = &card.Rehearsal{Status: card.Skipped}
		return nil
	}
	ctx = failpoint.In(ctx, failpoint.Rehearse)
	writes, err := g.writes(d.cards, salt, sqlc.WriteOperation(in.Operation))
	if err != nil {
		return err
	}
	if err := failpoint.Hit(ctx, failpoint.Rehearsing); err != nil {
		return err
	}
	seen, err := g.tried(ctx, by, writes)
	if errors.Is(err, record.ErrNoLock) {
		g.log.InfoContext(ctx, "a rehearsal did not get its locks in time", "entity", in.Entity.Name, "sqlstate", sqlstate(err))
		d.rehearsal = &card.Rehearsal{Status: card.NoLock}
		return nil
	}
	if err != nil {
		return g.wouldFail(ctx, tx, by, in, writes, err)
	}
	if err := failpoint.Hit(ctx, failpoint.Rehearsed); err != nil {
		return err
	}
	d.rehearsal = &card.Rehearsal{Status: card.Passed, AlsoSets: alsoSets(writes, d.drafts, seen.Records)}
	for _, e := range seen.Effects {
		d.rehearsal.SideEffects = append(d.rehearsal.SideEffects, card.SideEffect{Table: e.Table, Operation: e.Operation, Rows: e.Rows})
	}
	return nil
}

// tried rehearses the writes once there is a place; record.ErrNoLock where none came free in time.
func (g *Gate) tried(ctx context.Context, by identity.Actor, writes []record.Write) (*record.Rehearsal, error) {
	leave, err := g.rehearsals.enter(ctx, g.limits.Lock)
	if err != nil {
		return nil, err
	}
	defer leave()
	return g.registry.Rehearse(ctx, g.pools.Gate, by, writes)
}

// rehearses: a set is tried whole or not at all.
func (d *drafted) rehearses() bool {
	return !slices.ContainsFunc(d.changes, func(c record.Change) bool { return !c.Entity.Rehearses })
}

// errMoved says that a record changed between the draft and its rehearsal.
var errMoved = errors.New("a record changed while this was being proposed")

// wouldFail says what the refusal of a rehearsal means, in the words of a confirm that fails. What is no
// refusal is given as it is.
func (g *Gate) wouldFail(ctx context.Context, tx pgx.Tx, by identity.Actor, in Intent, writes []record.Write, cause error) error {
	if miss := (*record.NoRow)(nil); errors.As(cause, &miss) {
		return g.wouldMiss(ctx, tx, by, writes, miss.Indexes)
	}
	if refusal := RefusalOf(cause); refusal != nil {
		return refusal
	}
	f, ok := refusalOf(cause, writes)
	if !ok {
		return cause
	}
	g.log.InfoContext(ctx, "a change would be refused and is not proposed", "entity", in.Entity.Name, "code", f.code, "sqlstate", sqlstate(cause))
	if f.code == sqlc.FailureCodeNotPermitted {
		f.message = noRightToIt
	}
	return &Refusal{Code: WouldFail, Message: f.message, Field: f.field}
}

// wouldMiss: the write finds no record that was there a moment ago, or makes none.
func (g *Gate) wouldMiss(ctx context.Context, tx pgx.Tx, by identity.Actor, writes []record.Write, indexes []int) error {
	if writes[indexes[0]].Operation == record.Create {
		return &Refusal{Code: WouldFail, Message: "A rule of the database refused this change."}
	}
	gone, changed, err := g.lookAgain(ctx, tx, by, writes, indexes)
	switch {
	case err != nil:
		return err
	case len(gone)+len(changed) > 0:
		return errMoved
	}
	return &Refusal{Code: WouldFail, Message: noRightToIt}
}
