package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"

	"github.com/countersign/countersign/internal/postgres"
)

// Stands in for internal/server until it is there.

type serverConfig struct {
	OwnerURL     string
	ConfigPath   string
	RegistryYAML []byte
	CookieName   string
	Secure       bool
	GraphiQL     bool
	Logger       *slog.Logger
}

type placeholderServer struct{ Handler http.Handler }

func (placeholderServer) Close() {}

func newServer(ctx context.Context, config serverConfig) (*placeholderServer, error) {
	conn, err := postgres.ConnectOwner(ctx, config.OwnerURL)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := postgres.SchemaIsCurrent(ctx, conn); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	return &placeholderServer{mux}, nil
}
