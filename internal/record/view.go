package record

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/identity"
)

// View is how a custom action reads records: as one person, in the transaction of the proposal, and of those
// entities and fields alone that are offered to their role to be read. A masked field is not in it.
type View struct {
	registry *Registry
	tx       pgx.Tx
	as       identity.Actor
}

// ErrTooMany says that more records meet a filter than were asked for.
var ErrTooMany = errors.New("more records meet the filter than were asked for")

// View makes one for whoever acts.
func (r *Registry) View(tx pgx.Tx, as identity.Actor) View { return View{registry: r, tx: tx, as: as} }

// Entity finds an entity by its name, module.entity.
func (v View) Entity(name string) (*Entity, bool) { return v.registry.Entity(name) }

// Reads tells whether the person's role may read and list an entity, and whether these fields of it are exposed.
func (v View) Reads(entity string, fields ...string) bool {
	e, ok := v.registry.Entity(entity)
	if !ok || !v.may(e, Get) || !v.may(e, List) {
		return false
	}
	return !slices.ContainsFunc(fields, func(name string) bool {
		f, exposed := e.Field(name)
		return !exposed || f.Masked
	})
}

// Get reads one record, with errors as those of Registry.Get; ErrUnreadable where the role may not read the
// entity.
func (v View) Get(ctx context.Context, entity, key string) (*Record, error) {
	e, ok := v.registry.Entity(entity)
	if !ok || !v.may(e, Get) {
		return nil, ErrUnreadable
	}
	record, err := v.registry.Get(ctx, v.tx, v.as, e, key)
	if err != nil {
		return nil, err
	}
	return shown(e, record), nil
}

// All reads every record that meets a filter, field equals value, by key, page by page. That there are more
// than most is ErrTooMany.
func (v View) All(ctx context.Context, entity string, where map[string]json.RawMessage, most int) ([]*Record, error) {
	e, ok := v.registry.Entity(entity)
	if !ok || !v.may(e, List) {
		return nil, ErrUnreadable
	}
	var conditions []Condition
	for _, name := range slices.Sorted(maps.Keys(where)) {
		conditions = append(conditions, Condition{Field: name, Value: where[name]})
	}
	var all []*Record
	for after := ""; ; {
		page, err := v.registry.List(ctx, v.tx, v.as, e, conditions, min(most+1, MaxPage), after)
		if err != nil {
			return nil, err
		}
		for _, record := range page.Records {
			all = append(all, shown(e, record))
		}
		if len(all) > most {
			return nil, ErrTooMany
		}
		if after = page.Next; after == "" {
			return all, nil
		}
	}
}

func (v View) may(e *Entity, op Operation) bool { return e.Offers(op, string(v.as.Role())) }

func shown(e *Entity, r *Record) *Record {
	for _, f := range e.Fields {
		if f.Masked {
			delete(r.Values, f.Name)
		}
	}
	return r
}
