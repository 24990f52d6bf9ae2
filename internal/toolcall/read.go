package toolcall

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/gate"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/record"
)

const defaultPage = 20

// read runs a reading tool as the person.
func (s *Service) read(ctx context.Context, who identity.Actor, t Tool, in input) (*Result, error) {
	result := &Result{OK: true}
	err := pgx.BeginTxFunc(ctx, s.agent, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if t.op == record.Get {
			one, err := s.registry.Get(ctx, tx, who, t.entity, *in.ID)
			if err == nil {
				result.Rows = []Row{rowOf(t.entity, one)}
			}
			return err
		}
		page, err := s.list(ctx, tx, who, t, in)
		if err == nil {
			result.Next = page.Next
			for _, one := range page.Records {
				result.Rows = append(result.Rows, rowOf(t.entity, one))
			}
		}
		return err
	})
	if refusal := gate.RefusalOf(err); refusal != nil {
		return nil, refusal
	} else if err != nil {
		return nil, &gate.Error{Code: gate.Unavailable, Message: "The records could not be read just now. Try again.", Cause: err}
	}
	return result, nil
}

func (s *Service) list(ctx context.Context, tx pgx.Tx, who identity.Actor, t Tool, in input) (*record.Page, error) {
	first, after := defaultPage, ""
	if in.First != nil {
		first = *in.First
	}
	if in.After != nil {
		after = *in.After
	}
	where := []record.Condition{}
	for _, f := range t.entity.Fields { // in the registry's order, so that one question is one statement
		if v, ok := in.Where[f.Name]; ok {
			where = append(where, record.Condition{Field: f.Name, Value: v})
			delete(in.Where, f.Name)
		}
	}
	for name, v := range in.Where { // unknown: refused there, in the words used for any unknown field
		where = append(where, record.Condition{Field: name, Value: v})
	}
	return s.registry.List(ctx, tx, who, t.entity, where, first, after)
}

func rowOf(e *record.Entity, r *record.Record) Row {
	return Row{Citation: Citation{Entity: e.Name, RecordID: r.Key, Label: r.Label}, Values: e.Exposed(r)}
}
