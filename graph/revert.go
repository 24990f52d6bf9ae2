package graph

import (
	"context"

	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/toolcall"
	"github.com/countersign/countersign/sqlc"
)

// revert hands the wish to undo an applied proposal to the door that every proposal comes through.
func (r *Resolver) revert(ctx context.Context, in model.ProposeRevertInput) (*model.ProposeChangePayload, error) {
	who := identity.From(ctx)
	if !who.May(identity.ScopePropose) {
		return nil, errNoPropose
	}
	from := toolcall.Origin{Channel: sqlc.ChannelApi}
	if agent, ok := who.(identity.Agent); ok {
		from.ClientName = agent.Name()
	}
	result, err := r.Tools.Revert(ctx, who, from, in.ID, in.TakeFields)
	if err != nil {
		return nil, err
	}
	return &model.ProposeChangePayload{Result: proposed(result), ClientMutationID: in.ClientMutationID}, nil
}

func revertConflicts(p *sqlc.Proposal, first *int32, after *string) (*model.RevertConflictConnection, error) {
	w, err := windowOf(first, after, nil, nil, 20)
	if err != nil {
		return nil, err
	}
	stored, err := card.Conflicts(p.Conflicts)
	if err != nil {
		return nil, err
	}
	list := make([]*model.RevertConflict, len(stored))
	for i, c := range stored {
		list[i] = conflictOf(c)
	}
	return slice(w, list, "conflicts")
}

func conflictOf(c card.Conflict) *model.RevertConflict {
	conflict := &model.RevertConflict{Record: refOf(card.Record{Entity: c.Entity, Key: c.Key, Label: c.Label, URL: c.URL}), Reason: c.Reason, Taken: c.Taken}
	if c.Takes != "" {
		conflict.Takes = &c.Takes
	}
	if c.Field != "" {
		conflict.Field, conflict.Label, conflict.Type = &c.Field, &c.Title, &c.Type
		conflict.Before, conflict.Applied, conflict.Now = valueOf(c.Before, c.Type), valueOf(c.Applied, c.Type), valueOf(c.Now, c.Type)
	}
	return conflict
}
