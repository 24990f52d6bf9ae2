package feed

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/failpoint"
)

const (
	subscribe = "LISTEN countersign_feed"
	// silence is how long the listener's connection may say nothing before it is asked whether it lives.
	silence = 15 * time.Second
)

// follow hears of the positions that any server gives, on a connection of its own, until that breaks off.
// What was said while nobody listened is made up for by reading how far the feed has got.
func (f *Feed) follow(ctx context.Context, works func()) error {
	conn, err := f.listen(ctx)
	if err != nil {
		return err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ending)
	}()
	if _, err := conn.Exec(ctx, subscribe); err != nil {
		return err
	}
	for {
		if err := f.catchUp(ctx, conn); err != nil {
			return err
		}
		works()
		if err := f.hear(ctx, conn); err != nil {
			return err
		}
	}
}

// catchUp reads how far the feed has got, which also shows that the connection lives.
func (f *Feed) catchUp(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	last, err := f.queries.FeedLast(ctx, conn)
	f.reached(Position(last))
	return err
}

// hear takes what is said until nothing has been for a while.
func (f *Feed) hear(ctx context.Context, conn *pgx.Conn) error {
	for {
		waiting, cancel := context.WithTimeout(ctx, silence)
		said, err := conn.WaitForNotification(waiting)
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && pgconn.Timeout(err):
			return nil
		case err != nil:
			return err
		}
		if _, known := f.Changed(); said.Payload == strconv.FormatInt(int64(known), 10) {
			continue // this server gave it
		}
		if err := failpoint.Hit(failpoint.In(ctx, failpoint.Feed), failpoint.Hearing); err != nil {
			return err
		}
		if err := f.catchUp(ctx, conn); err != nil { // any login may notify: what is said is a hint
			return err
		}
	}
}
