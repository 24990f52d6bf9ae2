package toolcall

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/redact"
	"github.com/countersign/countersign/sqlc"
)

// Run runs a tool by its name. What it may not or cannot do is a Result that says so; an error means
// that it could not be tried.
func (s *Service) Run(ctx context.Context, who identity.Actor, from Origin, name string, raw json.RawMessage) (*Result, error) {
	policies, err := s.policies(ctx, who)
	if err != nil {
		return nil, err
	}
	tool, ok := s.find(who, policies, func(t Tool) bool { return t.Name == name })
	if !ok {
		tool = Tool{Name: clipped(redact.Text(name))}
	}
	return s.run(ctx, who, from, tool, policies, raw)
}

// policies are read fresh, once for a call: what is switched off meanwhile is off for the next one.
func (s *Service) policies(ctx context.Context, who identity.Actor) (gate.Policies, error) {
	if !identity.Acts(who) {
		return gate.Policies{}, identity.ErrUnauthenticated
	}
	now, err := gate.PoliciesOf(s.queries.PoliciesNow(ctx, postgres.As(s.agent, who.Workspace().ID), who.Workspace().ID))
	if err != nil {
		return now, &gate.Error{Code: gate.Unavailable, Message: "The call could not be tried. Try again.", Cause: err}
	}
	return now, nil
}

// Change is a change proposed without a chat. Operation is the contract's, in lower case.
type Change struct {
	Entity    string
	Operation string
	RecordID  *string
	Where     json.RawMessage
	Changes   json.RawMessage
	// Action and Input are of a custom action.
	Action *string
	Input  json.RawMessage
}

// Propose runs the tool that makes such a change, if there is one for this person.
func (s *Service) Propose(ctx context.Context, who identity.Actor, from Origin, c Change) (*Result, error) {
	policies, err := s.policies(ctx, who)
	if err != nil {
		return nil, err
	}
	tool, ok := s.find(who, policies, c.makes)
	if !ok {
		tool = Tool{Name: "propose_change"}
	}
	raw, err := c.input(tool)
	if err != nil {
		return nil, err
	}
	return s.run(ctx, who, from, tool, policies, raw)
}

// makes tells whether a tool makes such a change. An action is found by its name, and has to be about the
// entity.
func (c Change) makes(t Tool) bool {
	if t.action != nil {
		return c.Action != nil && *c.Action == t.action.Name && c.Operation == t.Operation && (c.Entity == t.Entity.Name || c.Entity == t.action.Name)
	}
	return t.Write && t.Entity.Name == c.Entity && t.Operation == c.Operation
}

// input is what the tool is given: all of what the client said, so that what the tool does not take is refused.
func (c Change) input(t Tool) (json.RawMessage, error) {
	in := map[string]any{}
	if t.action != nil && len(c.Input) > 0 {
		given := map[string]json.RawMessage{}
		if one(c.Input, &given) != nil || given == nil {
			given = map[string]json.RawMessage{"input": c.Input} // no object, and refused by its name
		}
		for name, value := range given {
			in[name] = value
		}
	} else if len(c.Input) > 0 {
		in["input"] = c.Input
	}
	if c.Action != nil && t.action == nil {
		in["action"] = *c.Action
	}
	if c.RecordID != nil {
		in["id"] = *c.RecordID
	}
	if len(c.Where) > 0 {
		in["where"] = c.Where
	}
	if len(c.Changes) > 0 {
		in["changes"] = c.Changes
	}
	return json.Marshal(in)
}

func (s *Service) run(ctx context.Context, who identity.Actor, from Origin, t Tool, under gate.Policies, raw json.RawMessage) (*Result, error) {
	return s.call(ctx, who, from, t, loggable(t, raw), func(ctx context.Context, call id.ToolCall, p *redact.Patterns) (*Result, error) {
		if refusal := echoes(p, t, raw); refusal != nil && readsRedacted(who, from) {
			return nil, refusal
		}
		return s.do(ctx, who, from, t, under, call, raw)
	})
}

// readsRedacted: a model, which knows records as they were shown to it.
func readsRedacted(who identity.Actor, from Origin) bool {
	return from.Channel != sqlc.ChannelApi && from.Channel != sqlc.ChannelConsole || !who.Token().IsZero()
}

// logging is what a call's row holds of its input.
type logging func(*redact.Patterns) redact.JSON

// call gives a call its row and its deadline, ends the row with what came of it, and answers it redacted by the
// patterns that the row was.
func (s *Service) call(ctx context.Context, who identity.Actor, from Origin, t Tool, logged logging, do func(context.Context, id.ToolCall, *redact.Patterns) (*Result, error)) (*Result, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	ctx = failpoint.In(ctx, failpoint.Call)
	call := id.NewToolCall()
	patterns, budget, err := s.record(ctx, who, from, t, call, logged)
	if err != nil {
		return nil, unrecorded(err)
	}
	ctx = redact.In(ctx, patterns)
	result, err := s.afford(ctx, call, budget, func(ctx context.Context, call id.ToolCall) (*Result, error) { return do(ctx, call, patterns) })
	if refusal := (*gate.Refusal)(nil); errors.As(err, &refusal) {
		result, err = &Result{Code: string(refusal.Code), Message: refusal.Message, Field: refusal.Field}, nil
	}
	if result == nil || result.Proposal == nil { // a proposal ends its call itself, in its transaction
		s.finish(ctx, who, call, result, err)
	} else if ctx.Err() != nil { // whoever asked has gone, and does not know of it
		s.finish(ctx, who, call, nil, ctx.Err())
		return nil, &gate.Error{Code: gate.Unavailable, Message: "The request ended before it was answered, so what it proposed was withdrawn.", Cause: ctx.Err()}
	}
	if result != nil {
		result = shown(patterns, result)
	}
	return result, err
}

// afford does it where a budget is left for it.
func (s *Service) afford(ctx context.Context, call id.ToolCall, budget *gate.Spent, do func(context.Context, id.ToolCall) (*Result, error)) (*Result, error) {
	if err := failpoint.Hit(ctx, failpoint.Recorded); err != nil {
		return nil, err
	}
	if budget.Measure != "" {
		return nil, budget.Refusal()
	}
	for _, soft := range budget.Soft {
		s.log.WarnContext(ctx, "a budget is nearly spent", "call", call, "measure", soft.Measure, "of", soft.Of, "period", soft.Period, "soft_limit", soft.Limit)
	}
	return do(ctx, call)
}

func unrecorded(err error) error {
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.Code == "CS003" {
		return &gate.Error{Code: gate.Forbidden, Message: "Your sign-in or token has ended. Sign in again.", Cause: err}
	}
	return &gate.Error{Code: gate.Unavailable, Message: "The call could not be written down, so it was not made. Try again.", Cause: err}
}

func (s *Service) do(ctx context.Context, who identity.Actor, from Origin, t Tool, under gate.Policies, call id.ToolCall, raw json.RawMessage) (*Result, error) {
	switch {
	case !s.Enabled():
		return nil, &gate.Refusal{Code: gate.SwitchedOff, Message: "The operator has switched the assistant off."}
	case t.off:
		return nil, &gate.Refusal{Code: gate.SwitchedOff, Message: "The operator has switched this off here."}
	case t.entity == nil:
		return nil, &gate.Refusal{Code: gate.NotOffered, Message: "This is not offered to you here."}
	}
	in, refusal := decode(t, raw)
	if refusal != nil {
		return nil, refusal
	}
	if !t.Write {
		return s.read(ctx, who, t, in)
	}
	made, err := s.gate.Propose(ctx, who, s.intentOf(who, from, t, under, call, in, raw))
	if err != nil {
		return nil, err
	}
	return &Result{OK: true, Proposal: made, Under: &under}, nil
}

func (s *Service) intentOf(who identity.Actor, from Origin, t Tool, under gate.Policies, call id.ToolCall, in input, raw json.RawMessage) gate.Intent {
	intent := gate.Intent{Call: call, Tool: t.Name, ActionKind: t.ActionKind, Entity: t.entity, Operation: t.op, Where: in.Where, Values: in.Changes, Policies: under,
		Note: from.Note, Channel: from.Channel, ClientName: brief(from.ClientName, maxClient), Conversation: from.Conversation, Turn: from.Turn, IdempotencyKey: from.IdempotencyKey}
	if t.action != nil {
		intent.Plan, intent.Action = s.planned(who, in.plan), t.terms
	}
	if in.ID != nil {
		intent.Key = *in.ID
	}
	if in.Note != nil {
		intent.Note = *in.Note
	}
	intent.Note = brief(intent.Note, MaxNote)
	if from.IdempotencyKey != "" {
		hash := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", t.Name, raw, from.Note, from.Conversation))
		intent.RequestHash = hash[:]
	}
	return intent
}

// finish ends the row, also where the caller has gone away.
func (s *Service) finish(ctx context.Context, who identity.Actor, call id.ToolCall, result *Result, err error) {
	status, code := sqlc.ToolCallStatusSucceeded, ""
	switch {
	case ctx.Err() != nil:
		status, code = sqlc.ToolCallStatusCutShort, "CUT_SHORT"
	case err != nil:
		status, code = sqlc.ToolCallStatusFailed, string(gate.CodeOf(err))
	case !result.OK:
		status, code = sqlc.ToolCallStatusRefused, result.Code
	}
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	params := sqlc.FinishToolCallParams{ID: call.UUID(), Status: status}
	if code != "" {
		params.Code = &code
	}
	err = failpoint.Hit(own, failpoint.Finishing)
	if err == nil {
		err = s.queries.FinishToolCall(own, postgres.As(s.agent, who.Workspace().ID), params)
	}
	if err == nil {
		err = failpoint.Hit(own, failpoint.Finished)
	}
	if err != nil {
		s.log.ErrorContext(ctx, "a tool call's end was not written", "call", call, "error", err)
	}
}
