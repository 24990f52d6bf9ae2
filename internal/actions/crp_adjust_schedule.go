package actions

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strings"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/record"
)

type adjustSchedule struct {
	Operation string  `json:"operation" names:"true" max:"80" says:"The operation, by its key, or by its order and its number there, e.g. PO-1042/10."`
	Day       *Day    `json:"day" of:"day" says:"The day it is moved to."`
	Centre    *string `json:"work_center" of:"work_center_id" max:"40" says:"The work centre it is moved to, by its code, e.g. WC-FILL, or its key."`
}

// AdjustSchedule moves one operation to another day or work centre, and shows how both are loaded before and
// after.
var AdjustSchedule = Define(Action{
	Name: "crp.adjust_schedule", Title: "Move an operation", Entity: operationEntity,
	Description: "Moves one operation of a production order to another day, another work centre, or both. The card shows how many minutes the work centres are loaded before and after, and warns of an overload.",
	Needs: map[string][]string{operationEntity: {"order_id", "sequence", "work_center_id", "minutes", "day"}, centreEntity: {"code", "minutes_per_day"},
		orderEntity: {"order_number", "status"}},
	Rules: []string{
		"The operation has to be one that the person sees.",
		"The work centre has to be one that the person sees.",
		"An operation of a completed or cancelled order is not offered for change.",
		"There has to be something to change.",
	},
}, planSchedule)

func planSchedule(ctx context.Context, view record.View, in adjustSchedule) ([]record.Change, []card.Notice, error) {
	entity, _ := view.Entity(operationEntity)
	op, err := findOperation(ctx, view, in.Operation)
	if err != nil {
		return nil, nil, err
	}
	day, hasDay := op.Day("day")
	minutes, hasMinutes := op.Number("minutes")
	if !hasDay || !hasMinutes {
		return nil, nil, invalid("operation", "The operation has no day or no minutes.")
	}
	centre, values, l := op.Text("work_center_id"), map[string]json.RawMessage{}, &loads{}
	l.add(centre, day, new(big.Rat).Neg(minutes))
	if in.Day != nil {
		day = in.Day.Time
		values["day"] = record.DayValue(day)
	}
	if in.Centre != nil {
		to, err := find(ctx, view, "work_center", centreEntity, "code", *in.Centre)
		if err != nil {
			return nil, nil, err
		}
		centre = to.Key
		values["work_center_id"] = record.TextValue(centre)
	}
	l.add(centre, day, minutes)
	if len(values) == 0 || len(l.slots) == 1 {
		return nil, nil, nil
	}
	notices, err := l.notices(ctx, view, true)
	return []record.Change{record.Planned(entity, record.Update, op.Key, values)}, notices, err
}

// findOperation reads PO-1042/10, or a key. An operation of an order that is not offered for change is not
// either.
func findOperation(ctx context.Context, view record.View, called string) (*record.Record, error) {
	number, sequence, inOrder := cutLast(called, "/")
	if !inOrder {
		op, err := byKey(ctx, view, "operation", operationEntity, called)
		if err != nil {
			return nil, err
		}
		order, err := view.Get(ctx, orderEntity, op.Text("order_id"))
		if err == nil && order.Locked != "" {
			err = locked(order.Locked)
		}
		return op, err
	}
	order, err := find(ctx, view, "operation", orderEntity, "order_number", number)
	if err != nil {
		return nil, err
	}
	if order.Locked != "" {
		return nil, locked(order.Locked)
	}
	ops, err := view.All(ctx, operationEntity, map[string]json.RawMessage{"order_id": record.TextValue(order.Key), "sequence": record.TextValue(sequence)}, 1)
	if bad := (*record.InputError)(nil); errors.As(err, &bad) || err == nil && len(ops) == 0 {
		return nil, invalid("operation", "The order has no operation of that number.")
	} else if err != nil {
		return nil, err
	}
	return ops[0], nil
}

func cutLast(s, separator string) (before, after string, found bool) {
	at := strings.LastIndex(s, separator)
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+len(separator):], true
}
