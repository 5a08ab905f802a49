// A Kubernetes API server for tests, in one binary: etcd, kube-apiserver, and a stand-in for a kubelet,
// chosen by the first argument.
//
// Nothing of Chancery is in here.
package main

import (
	"fmt"
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "say which: etcd, kube-apiserver or kubelet")
		os.Exit(2)
	}
	os.Args = os.Args[1:]
	switch os.Args[0] {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		os.Exit(cli.Run(app.NewAPIServerCommand()))
	case "kubelet":
		kubeletOrExit(os.Args[1:])
	default:
		fmt.Fprintf(os.Stderr, "there is no %q: say etcd, kube-apiserver or kubelet\n", os.Args[0])
		os.Exit(2)
	}
}
