package actions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/countersign/countersign/internal/card"
	"github.com/countersign/countersign/internal/record"
)

const (
	operationEntity = "crp.operation"
	centreEntity    = "mrp.work_center"
	calendarEntity  = "crp.calendar_day"

	mostOperations = 2000 // of one order, or of one work centre's day
	mostNotices    = 5
)

// slot is one day of a work centre.
type slot struct{ centre, day string }

// loads are the minutes that a plan takes from days of work centres, and adds to others.
type loads struct {
	slots  []slot
	change map[slot]*big.Rat
	// rough: the minutes follow the quantity, set-up times too
	rough bool
}

func (l *loads) add(centre string, on time.Time, minutes *big.Rat) {
	s := slot{centre, on.Format(time.DateOnly)}
	if l.change == nil {
		l.change = map[slot]*big.Rat{}
	}
	if l.change[s] == nil {
		l.change[s] = new(big.Rat)
		l.slots = append(l.slots, s)
	}
	l.change[s].Add(l.change[s], minutes)
}

// overloads warns of the days that get more than they have. Where operations are not for the person to read
// nobody warns them, nor where there are too many to look at.
func (o schedule) overloads(ctx context.Context, view record.View, key string, kept schedule, parted *schedule) ([]card.Notice, error) {
	if !seesLoads(view) {
		return nil, nil
	}
	operations, err := view.All(ctx, operationEntity, map[string]json.RawMessage{"order_id": record.TextValue(key)}, mostOperations)
	if errors.Is(err, record.ErrTooMany) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	l := &loads{rough: kept.quantity.Cmp(o.quantity) != 0}
	for _, op := range operations {
		l.move(op, o, kept, parted)
	}
	notices, err := l.notices(ctx, view, false)
	if errors.Is(err, record.ErrTooMany) {
		return nil, nil
	}
	return notices, err
}

func seesLoads(view record.View) bool {
	return view.Reads(operationEntity, "order_id", "work_center_id", "minutes", "day") && view.Reads(centreEntity, "code", "minutes_per_day")
}

// move takes an operation along with its order: by as many days as the order's start, and with minutes in
// proportion to its quantity.
func (l *loads) move(op *record.Record, o, kept schedule, parted *schedule) {
	day, hasDay := op.Day("day")
	minutes, hasMinutes := op.Number("minutes")
	if !hasDay || !hasMinutes {
		return
	}
	centre := op.Text("work_center_id")
	l.add(centre, day, new(big.Rat).Neg(minutes))
	parts := []schedule{kept}
	if parted != nil {
		parts = append(parts, *parted)
	}
	for _, part := range parts {
		share := new(big.Rat).Quo(part.quantity, o.quantity)
		l.add(centre, day.AddDate(0, 0, daysBetween(o.start, part.start)), share.Mul(share, minutes))
	}
}

// notices say how a work centre's days are loaded then: those that get more than they have, or all.
func (l *loads) notices(ctx context.Context, view record.View, all bool) ([]card.Notice, error) {
	var list []card.Notice
	for _, s := range l.slots {
		if !all && l.change[s].Sign() <= 0 {
			continue
		}
		one, over, err := l.notice(ctx, view, s)
		if err != nil {
			return nil, err
		}
		if over && l.change[s].Sign() > 0 {
			one.Code = overload
		}
		if all || one.Code == overload {
			list = append(list, one)
		}
	}
	if more := len(list) - mostNotices; more > 0 {
		list = append(list[:mostNotices], card.Notice{Code: overload, Message: fmt.Sprintf("%d more days of work centres are overloaded then.", more)})
	}
	return list, nil
}

const overload = "OVERLOAD"

func (l *loads) notice(ctx context.Context, view record.View, s slot) (card.Notice, bool, error) {
	now, err := loadNow(ctx, view, s)
	if err != nil {
		return card.Notice{}, false, err
	}
	centre, available, err := capacity(ctx, view, s)
	if err != nil {
		return card.Notice{}, false, err
	}
	then := new(big.Rat).Add(now, l.change[s])
	about := ""
	if l.rough {
		about = "about "
	}
	day, _ := time.Parse(time.DateOnly, s.day)
	return card.Notice{Message: fmt.Sprintf("%s is then loaded %s%s of %s minutes on %s; now it is %s.", centre, about, minutes(then), minutes(available), dayOf(day), minutes(now))},
		then.Cmp(available) > 0, nil
}

// minutes are shown to the second decimal; most are whole.
func minutes(n *big.Rat) string {
	if n.IsInt() {
		return n.Num().String()
	}
	return n.FloatString(2)
}

func loadNow(ctx context.Context, view record.View, s slot) (*big.Rat, error) {
	operations, err := view.All(ctx, operationEntity, s.where(), mostOperations)
	if err != nil {
		return nil, err
	}
	sum := new(big.Rat)
	for _, op := range operations {
		if minutes, ok := op.Number("minutes"); ok {
			sum.Add(sum, minutes)
		}
	}
	return sum, nil
}

func (s slot) where() map[string]json.RawMessage {
	return map[string]json.RawMessage{"work_center_id": record.TextValue(s.centre), "day": record.TextValue(s.day)}
}

// capacity is what a work centre is called and how many minutes it has on a day: its calendar says so, or it
// is a day like any other.
func capacity(ctx context.Context, view record.View, s slot) (called string, available *big.Rat, err error) {
	centre, err := view.Get(ctx, centreEntity, s.centre)
	if err != nil {
		return "", nil, err
	}
	available, _ = centre.Number("minutes_per_day")
	if view.Reads(calendarEntity, "work_center_id", "day", "available_minutes") {
		days, err := view.All(ctx, calendarEntity, s.where(), 10)
		if err != nil {
			return "", nil, err
		}
		if len(days) > 0 {
			available, _ = days[0].Number("available_minutes")
		}
	}
	if available == nil {
		available = new(big.Rat)
	}
	return card.Visible(centre.Text("code")), available, nil
}
