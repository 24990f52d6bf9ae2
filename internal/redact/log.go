package redact

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// Log is a handler of logs through which nothing secret comes: messages, values, errors and groups are
// redacted, by the patterns of the context too where it has some. Every logger of the service writes to one.
func Log(to slog.Handler) slog.Handler {
	if already, ok := to.(handler); ok {
		return already
	}
	return handler{to}
}

type handler struct{ to slog.Handler }

func (h handler) Enabled(ctx context.Context, level slog.Level) bool { return h.to.Enabled(ctx, level) }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	p := from(ctx)
	shown := slog.NewRecord(r.Time, r.Level, p.Text(withoutPanic(r.Message)), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		shown.AddAttrs(p.attr(a))
		return true
	})
	return h.to.Handle(ctx, shown)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	shown := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		shown[i] = (*Patterns)(nil).attr(a)
	}
	return handler{h.to.WithAttrs(shown)}
}

func (h handler) WithGroup(name string) slog.Handler { return handler{h.to.WithGroup(Text(name))} }

func (p *Patterns) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	if isSecretName(a.Key) {
		return slog.String(a.Key, marker(underSecretName))
	}
	return slog.Attr{Key: p.Text(a.Key), Value: p.logged(v)}
}

func (p *Patterns) logged(v slog.Value) slog.Value {
	switch v.Kind() {
	case slog.KindBool, slog.KindDuration, slog.KindTime:
		return v
	case slog.KindGroup:
		group := v.Group()
		shown := make([]slog.Attr, len(group))
		for i, a := range group {
			shown[i] = p.attr(a)
		}
		return slog.GroupValue(shown...)
	case slog.KindAny:
		return slog.StringValue(p.any(v.Any()))
	}
	if text, shown := v.String(), p.Text(v.String()); shown != text || v.Kind() == slog.KindString {
		return slog.StringValue(shown)
	}
	return v
}

// any is a value of any type as text: a log has nothing to compute with.
func (p *Patterns) any(v any) string {
	if err, ok := v.(error); ok {
		return p.Error(err)
	}
	return p.Text(fmt.Sprintf("%v", v))
}

// withoutPanic leaves out what a handler of net/http panicked with; the stack stays.
func withoutPanic(message string) string {
	head, rest, ok := strings.Cut(message, "http: panic serving ")
	if !ok {
		return message
	}
	who, what, _ := strings.Cut(rest, ": ")
	if at := strings.LastIndex(what, "\ngoroutine "); at >= 0 {
		return head + "http: panic serving " + who + what[at:]
	}
	return head + "http: panic serving " + who
}

type key struct{}

// In is a context whose logs are redacted by these patterns too.
func In(ctx context.Context, p *Patterns) context.Context { return context.WithValue(ctx, key{}, p) }

func from(ctx context.Context) *Patterns {
	p, _ := ctx.Value(key{}).(*Patterns)
	return p
}
