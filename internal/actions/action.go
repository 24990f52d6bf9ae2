// Package actions holds the custom actions: what can be proposed beyond a change of one record or of all that
// meet a filter. An action is a value: a name, an input with its types, and a planner that reads records as
// the person who asks and says which are to be changed. Adding one is a file here and a line in All; the
// registry says who may propose it, and which writes are opened for it.
package actions

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/record"
)

// Action is one custom action. It is made by Define.
type Action struct {
	// Name is module.verb_noun, as the registry and clients call it.
	Name string
	// Title says what it does, as in "Adjust a production order".
	Title string
	// Entity is what it is about, module.entity.
	Entity string
	// Description tells a model when to use it, and what comes of it.
	Description string
	// Needs are the fields it works with, by entity: without one of them exposed it is not there.
	Needs map[string][]string
	// Rules are what it refuses beyond what its input's types say, each as a sentence.
	Rules []string

	shape *shape
	plan  func(context.Context, record.View, any) ([]record.Change, []card.Notice, error)
}

// Planner reads as a person and says which records are to be changed, in their order, and what that person
// should know. An *record.InputError says why there is nothing to propose.
type Planner func(context.Context, record.View) ([]record.Change, []card.Notice, error)

// ToolName is how models call the action.
func (a Action) ToolName() string { return record.ActionTool(a.Name) }

// Inputs describes what the action takes.
func (a Action) Inputs() []Input { return a.shape.inputs() }

// Schema is the JSON Schema of the input: made of what Read checks it with.
func (a Action) Schema() map[string]any { return a.shape.schema() }

// Read checks an input strictly, and gives the planner for it. The error is an *record.InputError.
func (a Action) Read(input map[string]json.RawMessage) (Planner, error) {
	value, err := a.shape.fill(input, "")
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, view record.View) ([]record.Change, []card.Notice, error) {
		return a.plan(ctx, view, value.Interface())
	}, nil
}

var actionName = regexp.MustCompile(`^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$`)

// Define makes an action of its description and its planner. In is a struct, whose fields are the inputs:
//
//	string, Day, Decimal, int or bool, or a struct of them; a pointer where it may be left out
//	json:"name"       what it is called
//	says:"…"          what it means
//	max:"40"          a text's longest, in characters; of an int, with min, its bounds
//	positive:"true"   of a Decimal: above 0
//	names:"true"      it says which record the action is about, by number, name or key
//	of:"field"        it is the new value of that field
//	secret:"true"     it is not written down
//
// It panics where In is none of that, as the program is broken then.
func Define[In any](a Action, plan func(context.Context, record.View, In) ([]record.Change, []card.Notice, error)) Action {
	if !actionName.MatchString(a.Name) || len(a.Name) > 64 {
		panic(fmt.Sprintf("the action %q has to be named module.verb_noun", a.Name))
	}
	a.shape = shapeOf[In]()
	if a.shape.has(noteInput) {
		panic(fmt.Sprintf("action %s: %q is the input of every tool that proposes", a.Name, noteInput))
	}
	a.plan = func(ctx context.Context, view record.View, input any) ([]record.Change, []card.Notice, error) {
		return plan(ctx, view, input.(In))
	}
	return a
}

const noteInput = "note"

// All are the actions there are.
func All() []Action { return []Action{AdjustOrder, AdjustSchedule} }

// Needs are what some actions need, by action and entity.
func Needs(list []Action) map[string]map[string][]string {
	needs := map[string]map[string][]string{}
	for _, a := range list {
		needs[a.Name] = a.Needs
	}
	return needs
}
