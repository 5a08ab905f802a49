package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubelet/pkg/cri/streaming/portforward"
)

// A stand-in for a kubelet: it forwards ports of every pod to the same port of this machine, with the kubelet's own streams. It runs no pods.
//
// The words are: the address to listen on, its certificate, its key.
func kubelet(words []string) error {
	if len(words) != 3 {
		return fmt.Errorf("a kubelet wants an address, a certificate and a key")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/portForward/", forward)
	return http.ListenAndServeTLS(words[0], words[1], words[2], mux)
}

func forward(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/portForward/"), "/")
	if len(parts) < 2 {
		http.Error(w, "say a namespace and a pod", http.StatusBadRequest)
		return
	}
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, r, dialer{}, parts[1], "", options, time.Minute, 10*time.Second, portforward.SupportedProtocols)
}

type dialer struct{}

func (dialer) PortForward(ctx context.Context, _ string, _ types.UID, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	to, err := (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("failed to connect to port %d inside the namespace: %w", port, err)
	}
	defer to.Close()
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(stream, to)
		done <- err
	}()
	go io.Copy(to, stream)
	return <-done
}

func kubeletOrExit(words []string) {
	if err := kubelet(words); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
