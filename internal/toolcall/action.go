package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/actions"
	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/record"
	"github.com/countersign/countersign/internal/redact"
)

// InputInfo describes one input of a custom action.
type InputInfo = actions.Input

// actionsOf makes the tools of the custom actions that the registry offers and that are about an entity.
func actionsOf(r *record.Registry, e *record.Entity, built []actions.Action) []Tool {
	var list []Tool
	for _, terms := range r.Actions() {
		for _, a := range built {
			if a.Name == terms.Name && a.Entity == e.Name {
				list = append(list, actionTool(e, a, terms))
			}
		}
	}
	return list
}

func actionTool(e *record.Entity, a actions.Action, terms *record.CustomAction) Tool {
	t := Tool{Name: terms.ToolName(), Entity: infoOf(e), Operation: string(record.Action), Write: true, Label: "Propose to " + strings.ToLower(a.Title[:1]) + a.Title[1:], RequiresApproval: terms.Approval().Needed > 0,
		ActionKind: a.Name, Inputs: a.Inputs(), entity: e, op: record.Action, action: &a, terms: terms}
	t.Description = a.Description + " It changes nothing: a person confirms or rejects the proposal in the application."
	t.Schema = schemaOf(t)
	return t
}

// decodeAction reads the input of a custom action, and the note that every proposal may have.
func decodeAction(t Tool, keys map[string]json.RawMessage) (input, *gate.Refusal) {
	var in input
	if note, given := keys["note"]; given {
		if json.Unmarshal(note, &in.Note) != nil {
			return in, invalid("note", fmt.Sprintf("%q is of the wrong type: it is a %s.", "note", jsonTypes["note"]))
		}
		delete(keys, "note")
	}
	if refusal := in.check(t); refusal != nil {
		return in, refusal
	}
	var err error
	if in.plan, err = t.action.Read(keys); err != nil {
		return in, gate.RefusalOf(err)
	}
	return in, nil
}

// planned runs an action's planner as the person, in the transaction that stores the card.
func (s *Service) planned(who identity.Actor, plan actions.Planner) func(context.Context, pgx.Tx) (*gate.Plan, error) {
	return func(ctx context.Context, tx pgx.Tx) (*gate.Plan, error) {
		changes, notices, err := plan(ctx, s.registry.View(tx, who))
		if refused := (*record.InputError)(nil); errors.As(err, &refused) {
			return nil, gate.RefusalOf(refused)
		}
		return &gate.Plan{Changes: changes, Warnings: notices}, err
	}
}

// loggableAction is what a call's row may hold of an action's input: what the action knows, and no secret.
func loggableAction(p *redact.Patterns, t Tool, in map[string]json.RawMessage) map[string]any {
	out := map[string]any{}
	for name, v := range in {
		switch known, secret := t.knows(name); {
		case name == "note" || known && !secret:
			out[name] = clippedValue(p, v)
		case secret:
			out[name] = "(secret)"
		default:
			out["(unknown)"] = true
		}
	}
	return out
}

// knows tells whether the action has an input of that name, and whether it, or something in it, is a secret.
func (t Tool) knows(name string) (known, secret bool) {
	for _, i := range t.Inputs {
		if i.Name == name {
			return true, isSecret(i)
		}
	}
	return false, false
}

func isSecret(i InputInfo) bool {
	for _, inner := range i.Inputs {
		if isSecret(inner) {
			return true
		}
	}
	return i.Secret
}
