package gate

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/sqlc"
)

// made is a record that a proposal created, by its place among the proposal's, and as it was when all was written.
type made struct {
	position int32
	version  string
}

// made reads the records again that were created, once triggers and deferred constraints have had their way with
// them. What the person may not read, or does not see, is left out.
func (d *decision) made(ctx context.Context, writes []record.Write, written []*record.Record) ([]made, error) {
	var list []made
	for _, places := range createdOf(writes) {
		versions, err := d.versions(ctx, writes, written, places)
		if errors.Is(err, record.ErrUnreadable) {
			continue
		} else if err != nil {
			return nil, err
		}
		for i, place := range places {
			if versions[i] != "" {
				list = append(list, made{int32(place + 1), versions[i]}) //nolint:gosec // at most record.MaxSet
			}
		}
	}
	return list, nil
}

// createdOf are the places of the creates, by entity.
func createdOf(writes []record.Write) map[*record.Entity][]int {
	places := map[*record.Entity][]int{}
	for i, w := range writes {
		if w.Operation == record.Create {
			places[w.Entity] = append(places[w.Entity], i)
		}
	}
	return places
}

// versions are those of some records of one entity; empty where there is none to be seen.
func (d *decision) versions(ctx context.Context, writes []record.Write, written []*record.Record, places []int) ([]string, error) {
	tx, err := d.tx.Sent(ctx)
	if err != nil {
		return nil, err
	}
	keys, versions := make([]string, len(places)), make([]string, len(places))
	for i, place := range places {
		keys[i] = written[place].Key
	}
	err = pgx.BeginFunc(ctx, tx, func(savepoint pgx.Tx) error {
		found, err := d.gate.registry.Look(ctx, savepoint, d.facts.person, writes[places[0]].Entity, keys, d.facts.proposal.Salt)
		for i, one := range found {
			if one != nil {
				versions[i] = one.Version
			}
		}
		return err
	})
	return versions, err
}

// keepMade keeps what was made with the outcome.
func (d *decision) keepMade(ctx context.Context, list []made) error {
	p := d.facts.proposal
	params := sqlc.KeepCreatedParams{ProposalID: p.ID, WorkspaceID: p.WorkspaceID}
	for _, one := range list {
		params.Positions, params.Versions = append(params.Positions, one.position), append(params.Versions, one.version)
	}
	return d.gate.queries.KeepCreated(ctx, d.tx.Later(), params)
}
