package graph

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/countersign/countersign/internal/id"
)

// place is what a list's cursor says: which list of which workspace, and where in it. Clients are told
// that it is opaque.
type place struct {
	List      string       `json:"l"`
	Workspace id.Workspace `json:"w,omitzero"`
	Number    int64        `json:"n,omitempty"`
	At        time.Time    `json:"t,omitzero"`
	ID        string       `json:"i,omitempty"`
}

func (p place) String() string {
	b, _ := json.Marshal(p) // strings, a number and a time
	return base64.RawURLEncoding.EncodeToString(b)
}

// placeOf reads a cursor of this list in this workspace; any other is INVALID_INPUT.
func placeOf(cursor, list string, workspace id.Workspace) (place, error) {
	var p place
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || json.Unmarshal(b, &p) != nil || p.List != list || p.Workspace != workspace {
		return p, invalid("cursor", "This is not a cursor of this list.")
	}
	return p, nil
}

// furthest is the last position of a list that a page can begin at and still be counted in 32 bits.
const furthest = math.MaxInt32 - maxPage - 1

// position reads a cursor into a list whose places are counted.
func position(cursor, list string) (int, error) {
	p, err := placeOf(cursor, list, id.Workspace{})
	if err != nil || p.Number < 0 || p.Number > furthest {
		return 0, invalid("cursor", "This is not a cursor of this list.")
	}
	return int(p.Number), nil
}

// earliest and latest sort before and after every id there can be. The nil uuid is NULL to the database.
var earliest, latest = uuid.UUID{15: 1}, uuid.Max

func idCursor(list string, workspace id.Workspace, at uuid.UUID) string {
	return place{List: list, Workspace: workspace, ID: at.String()}.String()
}

// idPlace reads a cursor of a list that is ordered by id.
func idPlace(cursor, list string, workspace id.Workspace) (uuid.UUID, error) {
	p, err := placeOf(cursor, list, workspace)
	if err != nil {
		return uuid.Nil, err
	}
	at, err := uuid.Parse(p.ID)
	if err != nil {
		return uuid.Nil, invalid("cursor", "This is not a cursor of this list.")
	}
	return at, nil
}
