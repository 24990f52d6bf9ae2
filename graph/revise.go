package graph

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/countersign/countersign/graph/model"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/sqlc"
)

// revise hands other values for an open proposal to the gate, as the person who asks.
func (r *Resolver) revise(ctx context.Context, in model.ReviseProposalInput) (*model.ProposeChangePayload, error) {
	by, err := person(ctx)
	if err != nil {
		return nil, err
	}
	payload := &model.ProposeChangePayload{ClientMutationID: in.ClientMutationID}
	revision := gate.Revision{Of: in.ID, Seen: in.Fingerprint, Channel: sqlc.ChannelApi}
	if !anObject(in.Changes, &revision.Values) {
		payload.Result = notMade(&gate.Refusal{Code: gate.BadInput, Field: "changes", Message: `"changes" is a JSON object of values by field name.`})
		return payload, nil
	}
	made, err := r.Gate.Revise(ctx, by, revision)
	if refused := (*gate.Refusal)(nil); errors.As(err, &refused) {
		payload.Result = notMade(refused)
		return payload, nil
	}
	payload.Result = made
	return payload, err
}

func anObject(raw json.RawMessage, into *map[string]json.RawMessage) bool {
	return json.Unmarshal(raw, into) == nil
}

func notMade(r *gate.Refusal) *model.ProposalRefused {
	refused := &model.ProposalRefused{Code: r.Code, Message: r.Message}
	if r.Field != "" {
		refused.Field = &r.Field
	}
	return refused
}
