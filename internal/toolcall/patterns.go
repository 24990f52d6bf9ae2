package toolcall

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"github.com/countersign/countersign/internal/failpoint"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/postgres"
	"github.com/countersign/countersign/internal/redact"
	"github.com/countersign/countersign/sqlc"
)

// held are the patterns of a workspace, and their ids by which they were read. It is never stale: the statement
// that writes a call's row compares the ids with those that are there.
type held struct {
	ids      []uuid.UUID
	patterns *redact.Patterns
}

func (s *Service) held(of id.Workspace) held {
	if h, ok := s.patterns.Load(of); ok {
		return h.(held)
	}
	return held{ids: []uuid.UUID{}}
}

func (s *Service) readPatterns(ctx context.Context, of id.Workspace) error {
	rows, err := s.queries.PatternsOfWorkspace(ctx, postgres.As(s.agent, of), of)
	if err != nil {
		return err
	}
	h, named := held{ids: []uuid.UUID{}}, []redact.Named{}
	for _, row := range rows {
		h.ids = append(h.ids, row.ID)
		named = append(named, redact.Named{Name: row.Name, Expression: row.Pattern})
	}
	if h.patterns, err = redact.Compile(named); err == nil {
		s.patterns.Store(of, h)
	}
	return err
}

var errPatternsChange = errors.New("the patterns of the workspace changed again and again")

// record writes the row of a call before anything is done, redacted by the patterns that hold just then, and
// answers them, and counts it. They are read only where they have changed.
func (s *Service) record(ctx context.Context, who identity.Actor, from Origin, t Tool, call id.ToolCall, logged logging) (*redact.Patterns, *gate.Spent, error) {
	workspace := who.Workspace().ID
	if err := failpoint.Hit(ctx, failpoint.Recording); err != nil {
		return nil, nil, err
	}
	for range 5 {
		h := s.held(workspace)
		said, err := s.queries.RecordToolCallRedactedBy(ctx, postgres.As(s.agent, workspace), sqlc.RecordToolCallRedactedByParams{
			WorkspaceID: workspace, Patterns: h.ids, ID: call.UUID(), UserID: who.User().ID.UUID(), SignInID: id.Null(who.SignIn()), TokenID: id.Null(who.Token()),
			ConversationID: id.Null(from.Conversation), TurnID: id.Null(from.Turn), Tool: h.patterns.Text(t.Name), Entity: t.Entity.Name, Input: logged(h.patterns)})
		budget := &gate.Spent{}
		if err == nil {
			err = json.Unmarshal(said, budget)
		}
		if err != nil || !budget.Outdated {
			return h.patterns, budget, err
		}
		if err := s.readPatterns(ctx, workspace); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, errPatternsChange
}

// shown is a result as a model reads it: without secrets. The proposal itself, which is for people, stays as it is.
func shown(p *redact.Patterns, r *Result) *Result {
	out := *r
	out.patterns, out.Message, out.Field = p, p.Text(r.Message), p.Text(r.Field)
	out.Rows = make([]Row, len(r.Rows))
	for i, row := range r.Rows {
		out.Rows[i] = row.shown(p)
	}
	return &out
}

// echoes tells whether a model gives back what it was shown in the place of a value, and would have it written.
func echoes(p *redact.Patterns, t Tool, raw []byte) *gate.Refusal {
	if !t.Write || !p.Marked(string(raw)) {
		return nil
	}
	return invalid("", "A value holds \"(redacted: …)\", which stands for what was left out of what you read. Give the value itself, or leave the field out.")
}
