package toolcall

import (
	"context"
	"encoding/json"

	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/redact"
)

// Revert proposes to undo an applied proposal, as a call with a row of its own. take names fields that are to be
// restored though they changed since.
func (s *Service) Revert(ctx context.Context, who identity.Actor, from Origin, of id.Proposal, take []string) (*Result, error) {
	logged, err := json.Marshal(map[string]id.Proposal{"id": of})
	if err != nil {
		return nil, err
	}
	policies, err := s.policies(ctx, who)
	if err != nil {
		return nil, err
	}
	return s.call(ctx, who, from, Tool{Name: gate.RevertTool}, func(p *redact.Patterns) redact.JSON { return p.JSON(logged) }, func(ctx context.Context, call id.ToolCall, _ *redact.Patterns) (*Result, error) {
		if !s.Enabled() {
			return nil, &gate.Refusal{Code: gate.SwitchedOff, Message: "The operator has switched the assistant off."}
		}
		made, err := s.gate.Revert(ctx, who, gate.Reverting{Of: of, Take: take, Call: call, Channel: from.Channel, ClientName: brief(from.ClientName, maxClient), Policies: policies})
		if err != nil {
			return nil, err
		}
		return &Result{OK: true, Proposal: made}, nil
	})
}
