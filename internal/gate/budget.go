package gate

import (
	"encoding/json"
	"fmt"
	"time"
)

// Spent is what the database says of a budget with nothing left in it, or of those that are nearly so.
type Spent struct {
	// Measure is empty where no budget is spent.
	Measure string    `json:"spent"`
	Of      string    `json:"of"`
	Period  string    `json:"period"`
	Limit   int64     `json:"limit"`
	Resets  time.Time `json:"resets"`
	// Turn is how many proposals one turn may make, where it has made them.
	Turn int `json:"turn"`
	// Outdated says that the call was not counted, since what redacts it has changed.
	Outdated bool `json:"outdated"`
	// Soft are those past the limit from which they are told of.
	Soft []struct {
		Measure, Of, Period string
		Limit               int64
	} `json:"soft"`
}

// spent reads what the database says of a budget.
func spent(detail string) error {
	var s Spent
	if err := json.Unmarshal([]byte(detail), &s); err != nil {
		return unavailable(err)
	}
	return s.Refusal()
}

var (
	measures = map[string]string{"tool_calls": "tool calls", "proposals": "proposals", "model_tokens": "model tokens"}
	whose    = map[string]string{"workspace": "This workspace", "user": "You", "token": "This token"}
)

// Refusal says that a budget is spent, and when it begins anew.
func (s Spent) Refusal() *Refusal {
	if s.Turn > 0 {
		return &Refusal{Code: BudgetSpent, Message: fmt.Sprintf("One answer proposes at most %d changes, and this one has. Ask for the rest in another message.", s.Turn)}
	}
	verb := "has"
	if s.Of == "user" {
		verb = "have"
	}
	return &Refusal{Code: BudgetSpent, Message: fmt.Sprintf("%s %s used the %d %s there are for a %s. There are new ones from %s.",
		whose[s.Of], verb, s.Limit, measures[s.Measure], s.Period, s.Resets.UTC().Format("2006-01-02 15:04 UTC"))}
}
