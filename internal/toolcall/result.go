package toolcall

import (
	"encoding/json"

	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/redact"
	"github.com/countersign/countersign/sqlc"
)

// Result is how a tool answers. A refusal is a result, not an error.
type Result struct {
	OK       bool
	Proposal *sqlc.Proposal
	Rows     []Row
	// Next is where to go on after the last of Rows; empty at the end.
	Next                 string
	Code, Message, Field string
	// Under are the policies that a proposal was made under.
	Under *gate.Policies
	// patterns are what the result was redacted by.
	patterns *redact.Patterns
}

// Headline is that of the proposal, as a model reads it.
func (r *Result) Headline() string { return r.patterns.Text(r.Proposal.Headline) }

// Citation is a record that an answer rests on.
type Citation struct {
	Entity   string `json:"entity"`
	RecordID string `json:"recordId"`
	Label    string `json:"label"`
}

// Row is a record that was read, as far as it is exposed: no hidden field, no masked one.
type Row struct {
	Citation
	Values map[string]json.RawMessage
	keys   []string
}

// Citations are those of the rows.
func (r *Result) Citations() []Citation {
	list := make([]Citation, len(r.Rows))
	for i, row := range r.Rows {
		list[i] = row.Citation
	}
	return list
}

// JSON is the answer as a model reads it: {ok, proposalId, number, status, headline, url}, or
// {ok, records, next}, or {ok: false, code, message, field}.
func (r *Result) JSON() json.RawMessage {
	var v any
	switch {
	case !r.OK:
		v = struct {
			OK      bool   `json:"ok"`
			Code    string `json:"code"`
			Message string `json:"message"`
			Field   string `json:"field,omitempty"`
		}{false, r.Code, r.Message, r.Field}
	case r.Proposal != nil:
		v = struct {
			OK         bool   `json:"ok"`
			ProposalID string `json:"proposalId"`
			Number     int64  `json:"number"`
			Status     string `json:"status"`
			Headline   string `json:"headline"`
			URL        string `json:"url"`
		}{true, r.Proposal.ID.String(), r.Proposal.Number, string(r.Proposal.Status), r.Headline(), "/proposals/" + r.Proposal.ID.String()}
	default:
		v = struct {
			OK      bool         `json:"ok"`
			Records []readRecord `json:"records"`
			Next    string       `json:"next,omitempty"`
		}{true, r.read(), r.Next}
	}
	raw, _ := json.Marshal(v) // strings, numbers and JSON that PostgreSQL made
	return raw
}

type readRecord struct {
	ID     string                     `json:"id"`
	Label  string                     `json:"label"`
	Values map[string]json.RawMessage `json:"values"`
}

func (r *Result) read() []readRecord {
	list := make([]readRecord, len(r.Rows))
	for i, row := range r.Rows {
		list[i] = readRecord{row.RecordID, row.Label, row.Values}
	}
	return list
}
