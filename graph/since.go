package graph

import (
	"context"
	"sync"

	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
)

// alone are the proposals that were asked for one by one. Their records are looked at again; those of a list are
// not, which would be statements for each of its rows.
type alone struct {
	lock  sync.Mutex
	since map[id.Proposal]*since
}

type since struct {
	once  sync.Once
	words string
}

func (a *alone) add(which id.Proposal) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.since == nil {
		a.since = map[id.Proposal]*since{}
	}
	if a.since[which] == nil {
		a.since[which] = &since{}
	}
}

// changed says where the records of such a proposal are not as its card shows them, once for all who ask; ""
// where they are, and of those of a list.
func (a *alone) changed(ctx context.Context, g *gate.Gate, p *sqlc.Proposal) string {
	a.lock.Lock()
	one := a.since[p.ID]
	a.lock.Unlock()
	if one == nil {
		return ""
	}
	one.once.Do(func() { one.words = g.ChangedSince(ctx, identity.From(ctx), p) })
	return one.words
}
