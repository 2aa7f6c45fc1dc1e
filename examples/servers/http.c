// SPDX-License-Identifier: MIT
#include "http.h"

#include <ctype.h>
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "examples/common.h"

struct request {
	char *method, *target;
	bool has_body;
	bool keep_alive;
};

static const struct {
	int status;
	const char *reason;
} reasons[] = {
	{ 200, "OK" },
	{ 301, "Moved Permanently" },
	{ 400, "Bad Request" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 503, "Service Unavailable" },
	{ 505, "HTTP Version Not Supported" },
};

static const struct {
	const char *suffix, *type;
} types[] = {
	{ ".html", "text/html; charset=utf-8" },
	{ ".css", "text/css; charset=utf-8" },
	{ ".js", "text/javascript; charset=utf-8" },
	{ ".json", "application/json" },
	{ ".txt", "text/plain; charset=utf-8" },
	{ ".svg", "image/svg+xml" },
	{ ".png", "image/png" },
	{ ".jpg", "image/jpeg" },
};

/* ---- requests ---- */

long http_complete(const struct http_input *input)
{
	const char *end = input->data + input->length, *line = input->data, *feed;

	for (; (feed = memchr(line, '\n', (size_t)(end - line))); line = feed + 1) {
		if (feed == line || feed[-1] != '\r')
			return -400;
		if (feed == line + 1)
			return feed + 1 - input->data;
	}
	return input->length >= HTTP_HEAD_MAX ? -431 : 0;
}

/* Ends the line that begins at *REST, and returns it; NULL after the last one. */
static char *next_line(char **rest)
{
	char *line = *rest, *end = strstr(line, "\r\n");

	if (!end || end == line)
		return NULL;
	*end = '\0';
	*rest = end + 2;
	return line;
}

static bool is_token(const char *text)
{
	return *text && !text[strspn(text, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
					   "ABCDEFGHIJKLMNOPQRSTUVWXYZ")];
}

static bool has_control_characters(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text) && *text != '\t')
			return true;
	return false;
}

static int parse_first_line(struct request *request, char *line)
{
	char *version;

	request->method = strsep(&line, " ");
	request->target = strsep(&line, " ");
	version = line;
	if (!version || !is_token(request->method) || strncmp(version, "HTTP/", 5) != 0 ||
	    !isdigit((unsigned char)version[5]) || version[6] != '.' ||
	    !isdigit((unsigned char)version[7]) || version[8])
		return 400;
	if (version[5] != '1')
		return 505;
	request->keep_alive = version[7] != '0';
	return 0;
}

/* A value that is a list with commas, in any case. */
static bool lists(const char *value, const char *word)
{
	size_t length = strlen(word);

	for (; *value; value += strspn(value, ", \t")) {
		size_t item = strcspn(value, ", \t");

		if (item == length && !strncasecmp(value, word, length))
			return true;
		value += item;
	}
	return false;
}

static int parse_field(struct request *request, char *line, int *hosts)
{
	char *value = strchr(line, ':');

	if (!value)
		return 400;
	*value++ = '\0';
	if (!is_token(line)) /* nor may it end with a blank */
		return 400;
	value += strspn(value, " \t");
	if (!strcasecmp(line, "Host"))
		++*hosts;
	else if (!strcasecmp(line, "Transfer-Encoding") ||
		 (!strcasecmp(line, "Content-Length") && strcmp(value, "0") != 0))
		request->has_body = true;
	else if (!strcasecmp(line, "Connection") && lists(value, "close"))
		request->keep_alive = false;
	else if (!strcasecmp(line, "Connection") && lists(value, "keep-alive"))
		request->keep_alive = true;
	return 0;
}

/* HEAD is ended by a NUL.  Returns 0, or the status that answers it. */
static int parse(struct request *request, char *head, size_t length)
{
	char *rest = head, *line = next_line(&rest);
	int error, hosts = 0;
	bool needs_host;

	if (!line || strlen(head) + 2 > length || has_control_characters(line))
		return 400;
	error = parse_first_line(request, line);
	needs_host = request->keep_alive; /* since HTTP/1.1 */
	while (!error && (line = next_line(&rest)))
		error = has_control_characters(line) ? 400 : parse_field(request, line, &hosts);
	/* It ends with an empty line, unless a NUL came first. */
	if (!error && (rest + 2 != head + length || hosts > 1 || (needs_host && !hosts)))
		return 400;
	return error;
}

static int hex(char digit)
{
	return isdigit((unsigned char)digit) ? digit - '0' : tolower(digit) - 'a' + 10;
}

/* Makes the path of TARGET, beginning with a slash, in place: NULL if there is none. */
static char *path_of(char *target)
{
	char *from, *to;

	if (!strncasecmp(target, "http://", 7)) {
		target = strchr(target + 7, '/');
		if (!target)
			return NULL;
	}
	if (*target != '/')
		return NULL;
	target[strcspn(target, "?#")] = '\0';
	for (from = to = target; *from; from++, to++) {
		*to = *from;
		if (*from != '%')
			continue;
		if (!isxdigit((unsigned char)from[1]) || !isxdigit((unsigned char)from[2]))
			return NULL;
		*to = (char)(hex(from[1]) << 4 | hex(from[2]));
		from += 2;
		if (!*to)
			return NULL;
	}
	*to = '\0';
	return target;
}

/* ---- replies ---- */

static const char *reason_of(int status)
{
	size_t i = 0;

	while (reasons[i].status != status)
		i++;
	return reasons[i].reason;
}

static const char *type_of(const char *path)
{
	size_t length = strlen(path), i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		size_t suffix = strlen(types[i].suffix);

		if (length >= suffix && !strcasecmp(path + length - suffix, types[i].suffix))
			return types[i].type;
	}
	return "application/octet-stream";
}

__attribute__((format(printf, 2, 3))) static void put(struct http_reply *reply, const char *format,
						      ...)
{
	size_t room = sizeof(reply->data) - reply->length;
	va_list args;

	va_start(args, format);
	reply->length += (size_t)vsnprintf(reply->data + reply->length, room, format, args);
	va_end(args);
}

static void put_head(struct http_reply *reply, int status, const char *type, off_t size)
{
	time_t now = time(NULL);
	struct tm tm;
	char date[32];

	strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &tm));
	put(reply, "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Length: %lld\r\nContent-Type: %s\r\n",
	    status, reason_of(status), date, (long long)size, type);
	put(reply, "Connection: %s\r\n", reply->keep_alive ? "keep-alive" : "close");
}

static void put_error(struct http_reply *reply, int status, bool with_body)
{
	put_head(reply, status, "text/plain; charset=utf-8", (off_t)strlen(reason_of(status)) + 1);
	if (status == 405)
		put(reply, "Allow: GET, HEAD\r\n");
	put(reply, "\r\n");
	if (with_body)
		put(reply, "%s\n", reason_of(status));
}

/* Everything but letters, digits and a few signs is encoded again. */
static void put_redirect(struct http_reply *reply, const char *path)
{
	put_head(reply, 301, "text/plain", 0);
	put(reply, "Location: ");
	for (; *path; path++)
		put(reply,
		    isalnum((unsigned char)*path) || strchr("/-._~", *path) ? "%c" : "%%%02X",
		    (unsigned char)*path);
	put(reply, "/\r\n\r\n");
}

static int status_of(long error)
{
	switch (-error) {
	case ENOENT:
	case ENOTDIR:
	case ENAMETOOLONG:
		return 404;
	case EACCES:
	case EPERM:
	case ELOOP:
	case EXDEV: /* it leads out of the directory */
	case ENXIO: /* a socket */
		return 403;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case EAGAIN:
		return 503;
	default:
		return 500;
	}
}

/* Opens the file NAME: its descriptor, or -errno. */
static long open_file(int root, const char *name, struct stat *status)
{
	long file = call_open_beneath(root, name), error;

	if (file < 0)
		return file;
	error = SERVER_CALL(SYS_fstat, file, status, 0, 0);
	if (!error)
		return file;
	call_close((int)file);
	return error;
}

/* PATH begins with a slash. */
static void put_file(struct http_reply *reply, int root, char *path, bool with_body)
{
	char name[HTTP_HEAD_MAX + sizeof("index.html")];
	struct stat status;
	long file;

	path += strspn(path, "/") - 1; /* two would begin the name of another host */
	snprintf(name, sizeof(name), "%s%s", path + 1,
		 path[strlen(path) - 1] == '/' ? "index.html" : "");
	file = open_file(root, name, &status);
	if (file < 0) {
		put_error(reply, status_of(file), with_body);
		return;
	}
	reply->file = (int)file;
	if (S_ISREG(status.st_mode)) {
		put_head(reply, 200, type_of(name), status.st_size);
		put(reply, "\r\n");
		reply->end = status.st_size;
	} else if (S_ISDIR(status.st_mode)) {
		put_redirect(reply, path);
	} else {
		put_error(reply, 403, with_body);
	}
	if (!with_body)
		http_end(reply);
}

static void answer(struct http_reply *reply, char *head, size_t length, int root)
{
	struct request request = { 0 };
	int error = parse(&request, head, length);
	char *path;
	bool is_head;

	reply->keep_alive = !error && request.keep_alive && !request.has_body;
	reply->drain = error || request.has_body;
	if (error) {
		put_error(reply, error, true);
		return;
	}
	is_head = !strcmp(request.method, "HEAD");
	if (!is_head && strcmp(request.method, "GET") != 0) {
		put_error(reply, 405, true);
		return;
	}
	path = request.has_body ? NULL : path_of(request.target);
	if (path)
		put_file(reply, root, path, !is_head);
	else
		put_error(reply, 400, !is_head);
}

void http_begin(struct http_reply *reply, struct http_input *input, long length, int root)
{
	char head[HTTP_HEAD_MAX + 1];

	reply->length = 0;
	reply->file = -1;
	reply->offset = reply->end = 0;
	if (length < 0) {
		reply->keep_alive = false;
		reply->drain = true;
		put_error(reply, (int)-length, true);
		return;
	}
	memcpy(head, input->data, (size_t)length);
	head[length] = '\0';
	input->length -= (size_t)length;
	memmove(input->data, input->data + length, input->length);
	answer(reply, head, (size_t)length, root);
}

long http_fill(struct http_reply *reply)
{
	size_t room = sizeof(reply->data) - reply->length, some;
	off_t rest = reply->file >= 0 ? reply->end - reply->offset : 0;
	long length = (long)reply->length, got;

	reply->length = 0;
	if (rest <= 0)
		return length;
	some = rest < (off_t)room ? (size_t)rest : room;
	got = call_pread(reply->file, reply->data + length, some, reply->offset);
	if (got <= 0)
		return got ? got : -EIO; /* the file became shorter */
	reply->offset += got;
	return length + got;
}

void http_end(struct http_reply *reply)
{
	if (reply->file >= 0)
		call_close(reply->file);
	reply->file = -1;
}

/* ---- the command line ---- */

int http_options(struct server *server, int argc, char *argv[])
{
	char help[2048];
	int letter, root;

	snprintf(help, sizeof(help),
		 "Usage: %s [OPTION]... DIRECTORY\nServe the files of DIRECTORY by HTTP/1.1.\n\n%s",
		 server->name, SERVER_HELP);
	while ((letter = next_option(argc, argv, SERVER_OPTIONS, help)) != -1)
		server_option(server, letter, optarg);
	if (argc - optind != 1)
		usage_error("name one directory");
	root = open(argv[optind], O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		err(EXIT_USAGE, "cannot open the directory '%s'", argv[optind]);
	return root;
}
