package gate

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/record"
)

// lookAgain reads, as someone, the records of some writes. It gives the positions of those that are gone, and
// of those that are not as the writes have them.
func (g *Gate) lookAgain(ctx context.Context, tx pgx.Tx, as identity.Actor, writes []record.Write, indexes []int) (gone, changed []int32, err error) {
	for len(indexes) > 0 {
		entity, n := writes[indexes[0]].Entity, 1
		for n < len(indexes) && writes[indexes[n]].Entity == entity {
			n++
		}
		keys := make([]string, n)
		for i, index := range indexes[:n] {
			keys[i] = writes[index].Key
		}
		now, err := g.registry.Look(ctx, tx, as, entity, keys, writes[indexes[0]].Salt)
		if err != nil {
			return nil, nil, err
		}
		for i, index := range indexes[:n] {
			if position := int32(index + 1); now[i] == nil { //nolint:gosec // at most record.MaxSet
				gone = append(gone, position)
			} else if now[i].Version != writes[index].Version {
				changed = append(changed, position)
			}
		}
		indexes = indexes[n:]
	}
	return gone, changed, nil
}
