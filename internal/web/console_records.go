package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/sqlc"
	"github.com/countersign/countersign/views"
)

// records is a page of the records of a proposal.
func (c *Console) records(w http.ResponseWriter, r *http.Request, who identity.Person) error {
	which, err := id.ParseProposal(r.PathValue("id"))
	if err != nil {
		return err
	}
	p, err := c.visible(r.Context(), who, which)
	if err != nil {
		return err
	}
	after, err := place(r, "after", 0)
	if err != nil {
		return err
	}
	after = min(after, math.MaxInt32-views.RecordsAtOnce)
	f, err := c.frame(r, who, fmt.Sprintf("Records of #%d", p.Number), views.ToInbox)
	if err != nil {
		return err
	}
	one := views.Card{Proposal: p, Kind: c.kind(p.Entity), Viewer: who.User().ID, Now: f.Now}
	if err := c.addBulk(&one); err != nil {
		return err
	}
	err = c.addRecords(r.Context(), who, map[id.Proposal]*views.Card{p.ID: &one}, []uuid.UUID{p.ID.UUID()}, int32(after), int32(after)+views.RecordsAtOnce)
	if err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.Records(f, views.RecordsPage{Card: one, From: int(after)}))
}

// addBulk adds what a bulk change has beside its records.
func (c *Console) addBulk(to *views.Card) (err error) {
	if to.Proposal.Operation != sqlc.WriteOperationBulkUpdate {
		return nil
	}
	if to.Bulk, err = card.BulkChanges(to.Proposal.Changes); err != nil {
		return err
	}
	var where map[string]json.RawMessage
	if len(to.Proposal.Matched) > 0 {
		if err := json.Unmarshal(to.Proposal.Matched, &where); err != nil {
			return fmt.Errorf("filter of %s: %w", to.Proposal.ID, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(where)) {
		value := &card.Value{JSON: where[name], Null: string(where[name]) == "null"}
		to.Matched = append(to.Matched, views.Condition{Label: name, Shown: card.Show(value, card.Text)})
	}
	return nil
}

// kinds are what the registry calls the records.
func (c *Console) kinds(records []card.Record) map[string]string {
	kinds := map[string]string{}
	for _, r := range records {
		kinds[r.Entity] = c.kind(r.Entity)
	}
	return kinds
}
