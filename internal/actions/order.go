package actions

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/countersign/countersign/internal/record"
)

// findOrder finds the one order that is meant, by its number or its key, and only where it is offered for change.
func findOrder(ctx context.Context, view record.View, called string) (*record.Record, error) {
	order, err := find(ctx, view, "order", orderEntity, "order_number", called)
	if err == nil && order.Locked != "" {
		return nil, locked(order.Locked)
	}
	return order, err
}

// find finds the record that an input names, by its label or else by its key. What is not there, or not seen,
// is not a value that the input takes.
func find(ctx context.Context, view record.View, input, entity, label, called string) (*record.Record, error) {
	named, err := labelled(ctx, view, entity, label, called)
	switch {
	case errors.Is(err, record.ErrTooMany):
		return nil, invalid(input, "%q: more than one record is called so. Give the key of the one that is meant.", input)
	case err != nil || named != nil:
		return named, err
	}
	return byKey(ctx, view, input, entity, called)
}

func labelled(ctx context.Context, view record.View, entity, label, called string) (*record.Record, error) {
	if !view.Reads(entity, label) {
		return nil, nil
	}
	named, err := view.All(ctx, entity, map[string]json.RawMessage{label: record.TextValue(called)}, 1)
	if bad := (*record.InputError)(nil); errors.As(err, &bad) {
		return nil, nil // the label cannot be that
	}
	if err != nil || len(named) == 0 {
		return nil, err
	}
	return named[0], nil
}

func byKey(ctx context.Context, view record.View, input, entity, key string) (*record.Record, error) {
	one, err := view.Get(ctx, entity, key)
	if errors.Is(err, record.ErrGone) {
		return nil, invalid(input, "%q: there is no such record, or you may not see it.", input)
	}
	return one, err
}
