package retention

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// Pause is between two runs; the first is when a server becomes the one that calls for them. A run ends after
// longest, and what it left is the next one's.
const Pause, longest = 10 * time.Minute, 5 * time.Minute

const queue = "retention"

// Run has it swept every Pause by one of all the servers that Run on the database, until ctx ends. The one that
// was elected puts a job into the queue, where there is at most one, and any takes it.
func (r *Retention) Run(ctx context.Context) {
	client, err := r.client()
	if err == nil {
		err = client.Start(ctx)
	}
	if err != nil {
		r.log.ErrorContext(ctx, "retention does not run: nothing is deleted", "error", err)
		return
	}
	<-client.Stopped()
}

func (r *Retention) client() (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, &sweeper{retention: r}); err != nil {
		return nil, err
	}
	return river.NewClient[pgx.Tx](quiet{riverpgxv5.New(r.worker)}, &river.Config{
		Logger:               r.log,
		PollOnly:             true,
		FetchPollInterval:    2 * time.Second,
		Queues:               map[string]river.QueueConfig{queue: {MaxWorkers: 1}},
		Workers:              workers,
		JobTimeout:           2 * longest, // Work ends before
		RescueStuckJobsAfter: 3 * longest, // of a server that was killed
		SoftStopTimeout:      time.Millisecond,
		ReindexerIndexNames:  []string{}, // the indexes are the owner's
		PeriodicJobs:         []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(Pause), next, &river.PeriodicJobOpts{RunOnStart: true})},
	})
}

// quiet is the driver without LISTEN and NOTIFY, for which a commit would take a lock that is the whole server's.
type quiet struct{ *riverpgxv5.Driver }

func (quiet) SupportsListener() bool     { return false }
func (quiet) SupportsListenNotify() bool { return false }

// sweep is the job. It says nothing: what is kept is what the server that runs it has read.
type sweep struct{}

func (sweep) Kind() string { return "retention_sweep" }

// next: one at a time, and none that has failed is tried again before it is due again.
func next() (river.JobArgs, *river.InsertOpts) {
	open := []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable, rivertype.JobStateScheduled}
	return sweep{}, &river.InsertOpts{Queue: queue, MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByQueue: true, ByState: open}}
}

type sweeper struct {
	river.WorkerDefaults[sweep]
	retention *Retention
}

var errSeeLog = errors.New("not all was swept: the server's log says why")

// Work answers an error that says nothing, since it is stored with the job.
func (s *sweeper) Work(ctx context.Context, _ *river.Job[sweep]) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	r := s.retention
	deleted, err := r.Sweep(ctx)
	if deleted > 0 {
		r.log.InfoContext(ctx, "old proposals were deleted", "proposals", deleted, "days", r.days)
	}
	if err == nil || ctx.Err() != nil {
		return nil
	}
	r.log.ErrorContext(ctx, "old proposals were not all deleted", "error", err)
	return errSeeLog
}
