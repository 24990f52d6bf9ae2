package actions

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"time"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/record"
)

type adjustOrder struct {
	Order    string   `json:"order" names:"true" max:"60" says:"The order, by its number, e.g. PO-1042, or its key."`
	Start    *Day     `json:"start" of:"planned_start" says:"Its new first day. Given alone, the last day moves by as many days."`
	Finish   *Day     `json:"finish" of:"planned_finish" says:"Its new last day."`
	Quantity *Decimal `json:"quantity" of:"quantity" positive:"true" says:"Its new quantity."`
	Split    *split   `json:"split" says:"Splits the order in two: part of its quantity goes to a new order."`
}

type split struct {
	Quantity Decimal `json:"quantity" positive:"true" says:"How much goes to the new order."`
	Start    *Day    `json:"start" says:"The new order's first day; as the order's where it is left out. Given alone, the last day moves by as many days."`
	Finish   *Day    `json:"finish" says:"The new order's last day."`
}

const orderEntity = "mrp.production_order"

// AdjustOrder changes when a production order is made and how much of it, or splits it in two. It warns of
// work centres that are then loaded with more minutes than they have.
var AdjustOrder = Define(Action{
	Name: "mrp.adjust_order", Title: "Adjust a production order", Entity: orderEntity,
	Description: "Moves a production order to other days, changes its quantity, or splits it into two orders. The start given alone moves the finish by as many days. The card warns of work centres that are overloaded then.",
	Needs:       map[string][]string{orderEntity: {"order_number", "item", "quantity", "unit", "status", "planned_start", "planned_finish", "due_date"}},
	Rules: []string{
		"The order has to be one that the person sees.",
		"A number that several orders have names none of them.",
		"A completed or cancelled order is not offered for change.",
		"An order does not finish before it starts.",
		"A split leaves some of the quantity to the order.",
		"A split and a new quantity do not go together.",
		"There has to be something to change.",
	},
}, planOrder)

func planOrder(ctx context.Context, view record.View, in adjustOrder) ([]record.Change, []card.Notice, error) {
	entity, _ := view.Entity(orderEntity)
	order, err := findOrder(ctx, view, in.Order)
	if err != nil {
		return nil, nil, err
	}
	o, err := readOrder(order)
	if err != nil {
		return nil, nil, err
	}
	kept, parted, err := o.adjusted(in)
	if err != nil {
		return nil, nil, err
	}
	changes := []record.Change{record.Planned(entity, record.Update, order.Key, kept.values())}
	if parted != nil {
		number, err := freeNumber(ctx, view, entity, order.Text("order_number"))
		if err != nil {
			return nil, nil, err
		}
		changes = append(changes, record.Planned(entity, record.Create, "", parted.copied(entity, order, number)))
	}
	notices, err := o.overloads(ctx, view, order.Key, kept, parted)
	return changes, notices, err
}

// schedule is when an order is made, and how much of it.
type schedule struct {
	start, finish time.Time
	quantity      *big.Rat
}

func readOrder(order *record.Record) (schedule, error) {
	start, hasStart := order.Day("planned_start")
	finish, hasFinish := order.Day("planned_finish")
	quantity, hasQuantity := order.Number("quantity")
	if !hasStart || !hasFinish || !hasQuantity {
		return schedule{}, invalid("order", "The order has no dates or no quantity to adjust.")
	}
	return schedule{start, finish, quantity}, nil
}

// adjusted gives what the order becomes, and the part that a split takes off it.
func (o schedule) adjusted(in adjustOrder) (kept schedule, parted *schedule, err error) {
	if kept, err = o.moved(in.Start, in.Finish, ""); err != nil {
		return kept, nil, err
	}
	if in.Quantity != nil {
		kept.quantity = in.Quantity.Exact()
	}
	if in.Split == nil {
		return kept, nil, nil
	}
	if in.Quantity != nil {
		return kept, nil, invalid("quantity", "Say either the order's new quantity or how much is split off it; what is left follows.")
	}
	part, err := kept.moved(in.Split.Start, in.Split.Finish, "split.")
	if err != nil {
		return kept, nil, err
	}
	part.quantity = in.Split.Quantity.Exact()
	if kept.quantity = new(big.Rat).Sub(o.quantity, part.quantity); kept.quantity.Sign() <= 0 {
		return kept, nil, invalid("split.quantity", "The order has %s, and a split leaves some of it: less than that can go to a new order.", record.Decimals(o.quantity))
	}
	return kept, &part, nil
}

// moved gives other days. A start alone takes the finish along.
func (o schedule) moved(start, finish *Day, path string) (schedule, error) {
	field := path + "finish"
	switch {
	case start != nil && finish == nil:
		o.finish = o.finish.AddDate(0, 0, daysBetween(o.start, start.Time))
		o.start = start.Time
	case start != nil:
		o.start, o.finish = start.Time, finish.Time
	case finish != nil:
		o.finish = finish.Time
	}
	if o.finish.Before(o.start) {
		return o, invalid(field, "The order would finish on %s, before it starts on %s.", dayOf(o.finish), dayOf(o.start))
	}
	return o, nil
}

func daysBetween(from, to time.Time) int { return int(to.Sub(from).Hours()) / 24 }

func dayOf(day time.Time) string { return day.Format("2 January 2006") }

func (o schedule) values() map[string]json.RawMessage {
	return map[string]json.RawMessage{"planned_start": record.DayValue(o.start), "planned_finish": record.DayValue(o.finish), "quantity": record.NumberValue(o.quantity)}
}

// always are the fields that an order cannot be without, whoever may write them.
var always = []string{"item", "unit", "status", "due_date"}

// copied are the values of the part that is split off: those of the order that can be written, with its own
// number, days and quantity.
func (o schedule) copied(entity *record.Entity, from *record.Record, number string) map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	take := func(name string) {
		if v, there := from.Values[name]; there && !v.Null {
			values[name] = v.JSON
		}
	}
	for _, f := range entity.Fields {
		if f.Writable {
			take(f.Name)
		}
	}
	for _, name := range always {
		take(name)
	}
	for name, value := range o.values() {
		values[name] = value
	}
	values["order_number"] = record.TextValue(number)
	return values
}

// mostSplits is how many orders one can be split into.
const mostSplits = 99

// freeNumber is the first of PO-1042-2, PO-1042-3 … that no order has.
func freeNumber(ctx context.Context, view record.View, entity *record.Entity, number string) (string, error) {
	longest := 0
	if f, ok := entity.Field("order_number"); ok {
		longest = f.MaxLength
	}
	for n := 2; n <= mostSplits; n++ {
		next := fmt.Sprintf("%s-%d", number, n)
		if longest > 0 && len([]rune(next)) > longest {
			break
		}
		taken, err := view.All(ctx, orderEntity, map[string]json.RawMessage{"order_number": record.TextValue(next)}, 1)
		if err != nil {
			return "", err
		}
		if len(taken) == 0 {
			return next, nil
		}
	}
	return "", invalid("split", "There is no number left for an order that is split off.")
}
