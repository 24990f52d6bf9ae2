// Package offline is the assistant's model that needs no network: a small, deterministic grammar for
// sentences about the records it is offered. It knows no entity of its own. Words, fields and values come
// from the tools it is given, and what a record's text says is data to it, never a sentence.
package offline

import (
	"context"
	"errors"
	"strings"

	"github.com/countersign/countersign/internal/assistant"
)

// Model answers by the grammar. It keeps nothing between messages and is safe for concurrent use.
type Model struct{}

var _ assistant.Model = Model{}

// Name is how the configuration calls it.
func (Model) Name() string { return "offline" }

// Answer handles the sentences of a message one by one, in their order.
func (Model) Answer(ctx context.Context, prompt assistant.Prompt, call assistant.Call) (string, error) {
	t := &turn{catalogue: newCatalogue(prompt.Tools), call: call, found: map[string][]record{}}
	var said []string
	for _, sentence := range sentences(prompt.Message) {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if len(said) == mostSentences {
			said = append(said, "I read no further than "+itoa(mostSentences)+" sentences of a message.")
			break
		}
		text, err := t.say(sentence)
		if err != nil {
			return "", err
		}
		said = append(said, text)
	}
	if len(said) == 0 {
		t.sentence = prompt.Message
		return puzzled{}.run(t)
	}
	return strings.Join(said, "\n\n"), nil
}

// mostSentences bounds what one message can ask for.
const mostSentences = 20

// say runs one sentence. What stands in its way is said, not raised.
func (t *turn) say(sentence phrase) (string, error) {
	t.sentence = sentence.plain().text()
	text, err := parse(t.catalogue, sentence).run(t)
	refused, gone := troubleError(""), missingError("")
	switch {
	case errors.As(err, &refused):
		return string(refused), nil
	case errors.As(err, &gone):
		return string(gone), nil
	}
	return text, err
}
