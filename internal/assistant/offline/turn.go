package offline

import (
	"encoding/json"

	"github.com/countersign/countersign/internal/assistant"
	"github.com/countersign/countersign/internal/toolcall"
)

// mostProposals is how many proposals one message may make.
const mostProposals = 5

// turn is one message being answered.
type turn struct {
	catalogue catalogue
	call      assistant.Call
	sentence  string
	proposals int
	found     map[string][]record
}

// use runs a tool of a noun. A refusal is a Result; an error ends the turn.
func (t *turn) use(n *noun, operation string, input map[string]any) (*toolcall.Result, error) {
	return t.run(n.tools[operation].Name, input)
}

func (t *turn) run(tool string, input map[string]any) (*toolcall.Result, error) {
	raw, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	return t.call(tool, raw)
}

// propose asks for a change and says what came of it.
func (t *turn) propose(n *noun, operation string, input map[string]any) (string, error) {
	return t.proposeBy(n.tools[operation].Name, input)
}

func (t *turn) proposeBy(tool string, input map[string]any) (string, error) {
	if t.proposals == mostProposals {
		return "", troubleError("I propose at most " + itoa(mostProposals) + " changes for one message. Please send the rest in another.")
	}
	input["note"] = "Asked for with the words: " + clip(t.sentence, 400)
	result, err := t.run(tool, input)
	switch {
	case err != nil:
		return "", err
	case !result.OK:
		return "", troubleError("I prepared nothing for " + quote(t.sentence) + ". " + result.Message)
	case result.Proposal == nil:
		return "", troubleError("I prepared nothing for " + quote(t.sentence) + ".")
	}
	t.proposals++
	text := "I prepared #" + itoa(int(result.Proposal.Number)) + ": " + full(result.Headline())
	if result.Proposal.RequiresApproval {
		text += " Once confirmed, it waits for an approval."
	}
	return text, nil
}

// may says plainly where nothing of an operation is offered for any of some nouns.
func (c catalogue) may(operation string) (catalogue, error) {
	if able := c.offering(operation); len(able) > 0 {
		return able, nil
	}
	if len(c) == 1 {
		return nil, troubleError("I may not " + verbs[operation] + " " + plain(c[0].Plural) + " for you here.")
	}
	return nil, troubleError("I may not " + verbs[operation] + " anything for you here.")
}

// verbs say what an operation does: to propose it is all an assistant can.
var verbs = map[string]string{
	"list": "list", reading: "look up", "create": "propose new", "update": "propose changes to", "delete": "propose to delete",
	bulkUpdate: "propose changes to several", acting: "propose changes to", moving: "propose changes to", splitting: "propose to split",
}
