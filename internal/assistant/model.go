package assistant

import (
	"context"
	"encoding/json"

	"github.com/countersign/countersign/internal/toolcall"
)

// Model answers one message. It may run tools while it does, and has no other way to act. Whatever it
// says is text: no word of it confirms, applies or decides anything.
type Model interface {
	// Name is how the configuration calls the model.
	Name() string
	// Answer gives the text of the answer. An error ends the turn as failed and what it proposed is
	// withdrawn. When ctx ends the turn is over: later calls fail, and what is returned is dropped.
	Answer(ctx context.Context, prompt Prompt, call Call) (string, error)
}

// Prompt is all a model is told: there is no history. Everything in it but Message is the server's.
type Prompt struct {
	System  string
	Message string
	// Tools are exactly those that are offered to the person, with what each is about.
	Tools []toolcall.Tool
	// Spend is told of each request to a provider how many tokens it took, once that is known. An error, that there are
	// none left for another, ends the turn and is to be returned.
	Spend func(tokens int64) error
}

// Call runs a tool by its name within the turn. What it may not or cannot do is a Result that says so,
// to be told to the model; an error ends the turn and is to be returned.
type Call func(tool string, input json.RawMessage) (*toolcall.Result, error)
