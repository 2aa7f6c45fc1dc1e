#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Becomes an installed server on 127.0.0.1, with its files in the working directory, for
# `ferry bench threads`.
#
# Usage: serve.sh NAME PORT
set -eu
PATH=$PATH:/usr/sbin # servers are there
port=$2
folder=$PWD
programs=$(dirname "$0")
# What prepares or helps a server runs plainly, and a helper ends with the server.
plainly() {
	env -u LD_PRELOAD "$@"
}
needs() {
	command -v "$1" >/dev/null || {
		echo "$1 is not installed" >&2
		exit 1
	}
}
help_plainly() {
	(exec env -u LD_PRELOAD setpriv --pdeathsig KILL "$@") &
}

serve_apache() {
	needs apache2
	modules=/usr/lib/apache2/modules
	chmod 711 .
	mkdir html
	printf '%0100d\n' 0 >html/file
	touch -d 2026-01-01 html/file # of a new file, Apache changes the answer after a second
	cat >apache.conf <<-END
		LoadModule mpm_worker_module $modules/mod_mpm_worker.so
		LoadModule authz_core_module $modules/mod_authz_core.so
		ServerName localhost
		User nobody
		Group nogroup
		Listen 127.0.0.1:$port
		PidFile $folder/pid
		ErrorLog /dev/stderr
		DocumentRoot $folder/html
		KeepAliveTimeout 3600
		MaxKeepAliveRequests 0
		StartServers 1
		ServerLimit 1
		ThreadLimit 300
		ThreadsPerChild 300
		MaxRequestWorkers 300
	END
	exec apache2 -X -f "$folder/apache.conf"
}

serve_mariadb() {
	needs mariadbd
	plainly mariadb-install-db --no-defaults --user=root --datadir="$folder/data" \
		--auth-root-authentication-method=normal --skip-test-db >/dev/null 2>&1
	cat >rows.sql <<-'END'
		CREATE DATABASE bench;
		CREATE TABLE bench.points (id INT PRIMARY KEY, c CHAR(120)) ENGINE=InnoDB;
		INSERT INTO bench.points SELECT seq, REPEAT('x', 119) FROM seq_1_to_10000;
	END
	exec mariadbd --no-defaults --user=root --datadir="$folder/data" --skip-grant-tables \
		--bind-address=127.0.0.1 --port="$port" --socket="$folder/socket" \
		--max-connections=300 --init-file="$folder/rows.sql" --log-error="$folder/log"
}

serve_memcached() {
	needs memcached
	exec memcached -u root -l 127.0.0.1 -p "$port" -t 4
}

serve_slapd() {
	needs slapd
	printf 'include /etc/ldap/schema/core.schema\npidfile %s/pid\n' "$folder" >slapd.conf
	exec slapd -d 0 -f slapd.conf -h "ldap://127.0.0.1:$port"
}

# A client stunnel is in front of the one that is measured, and an echo server behind it.
serve_stunnel() {
	needs stunnel4
	openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 2 \
		-keyout key.pem -out cert.pem 2>/dev/null
	cat >client.conf <<-END
		foreground = yes
		pid =
		debug = 3
		[client]
		client = yes
		accept = 127.0.0.1:$port
		connect = $folder/tls
	END
	cat >server.conf <<-END
		foreground = yes
		pid =
		debug = 3
		[server]
		cert = $folder/cert.pem
		key = $folder/key.pem
		accept = $folder/tls
		connect = $folder/echo
	END
	# A client that is there first would turn connections away.
	help_plainly sh -c 'until [ -S tls ] && [ -S echo ]; do sleep 0.1; done; exec stunnel4 client.conf'
	help_plainly "$programs/threaded_server" echo "$folder/echo"
	exec stunnel4 server.conf
}

serve_varnish() {
	needs varnishd
	cat >bench.vcl <<-'END'
		vcl 4.1;
		backend default none;
		sub vcl_recv { return (synth(200)); }
		sub vcl_synth {
			unset resp.http.X-Varnish;
			synthetic("0123456789");
			return (deliver);
		}
	END
	exec varnishd -F -j none -p timeout_idle=3600 -n "$folder/varnish" -a "127.0.0.1:$port" -f "$folder/bench.vcl"
}

case $1 in
apache | mariadb | memcached | slapd | stunnel | varnish) "serve_$1" ;;
esac
