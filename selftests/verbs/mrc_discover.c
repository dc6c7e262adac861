// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_discover.c - takes the first RoCE device with an active port, as programs do that know no name, and holds
 * what it shows of itself against what a program may make of it.
 *
 *	mrc_discover [MBPS]
 *
 * MBPS: the speed that the port should have. Prints what it found, a word and a value in a line; status 1 when something
 * is not sensible.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include "vcommon.h"

static int bad;

static void hold(bool right, const char *what)
{
	if (!right) {
		printf("wrong %s\n", what);
		bad = 1;
	}
}

/* A file of the device in sysfs, without its newline. */
static const char *file_of(const char *name, const char *file)
{
	static char text[128];
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/%s", name, file);
	f = fopen(path, "r");
	if (!f || !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	text[strcspn(text, "\n")] = 0;
	return text;
}

/* As in the tables of programs: Mb/s of a lane, and lanes. */
static unsigned int mbps_of(const struct ibv_port_attr *port)
{
	static const unsigned int lane[] = { 2500, 5000, 10000, 10000, 14000, 25000, 50000, 100000 };
	static const unsigned int lanes[] = { 1, 4, 8, 12, 2 };
	unsigned int speed = 0, width = 0;

	while (speed < 8 && port->active_speed != 1u << speed)
		speed++;
	while (width < 5 && port->active_width != 1u << width)
		width++;
	return speed < 8 && width < 5 ? lane[speed] * lanes[width] : 0;
}

static struct ibv_context *first_active(struct ibv_port_attr *port)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	for (i = 0; list && list[i] && !ctx; i++) {
		ctx = ibv_open_device(list[i]);
		if (!ctx)
			continue;
		if (ibv_query_port(ctx, 1, port) || port->state != IBV_PORT_ACTIVE ||
		    port->link_layer != IBV_LINK_LAYER_ETHERNET) {
			ibv_close_device(ctx);
			ctx = NULL;
		}
	}
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

/* Any RoCE v2 GID that others reach. */
static int gid_of(struct ibv_context *ctx, const struct ibv_port_attr *port)
{
	struct ibv_gid_entry e;
	uint32_t i;

	for (i = 0; i < (uint32_t)port->gid_tbl_len; i++)
		if (!ibv_query_gid_ex(ctx, 1, i, &e, 0) && e.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    e.gid.raw[0] != 0xfe)
			return (int)i;
	return -1;
}

static void compare(struct ibv_context *ctx, const struct ibv_device_attr *attr, const char *name)
{
	char guid[32], link[PATH_MAX + 16], path[PATH_MAX];
	const uint64_t g = be64toh(attr->node_guid);

	snprintf(guid, sizeof(guid), "%04x:%04x:%04x:%04x", (unsigned int)(g >> 48), (unsigned int)(g >> 32) & 0xffff,
		 (unsigned int)(g >> 16) & 0xffff, (unsigned int)g & 0xffff);
	printf("guid %s\n", guid);
	hold(g && attr->node_guid == ibv_get_device_guid(ctx->device), "GUID");
	hold(!strcmp(file_of(name, "node_guid"), guid), "node_guid in sysfs");
	hold(attr->sys_image_guid, "image GUID");
	printf("fw_ver %s\n", attr->fw_ver);
	hold(attr->fw_ver[0] >= '0' && attr->fw_ver[0] <= '9', "firmware version");
	hold(!strcmp(file_of(name, "fw_ver"), attr->fw_ver), "fw_ver in sysfs");
	printf("node_desc %s\n", file_of(name, "node_desc"));
	hold(*file_of(name, "node_desc"), "node_desc");
	printf("board_id %s\n", file_of(name, "board_id"));
	hold(*file_of(name, "board_id"), "board_id");
	printf("hca_type %s\n", file_of(name, "hca_type"));
	hold(!strcmp(file_of(name, "hca_type"), "MRC"), "hca_type");
	hold(!strncmp(file_of(name, "node_type"), "1: CA", 5), "node_type");
	hold(ctx->device->node_type == IBV_NODE_CA && ctx->device->transport_type == IBV_TRANSPORT_IB, "transport");
	snprintf(link, sizeof(link), "/sys/class/infiniband/%s/device", name);
	hold(realpath(link, path), "link to its device");
	printf("device %s\n", path);
	snprintf(link, sizeof(link), "%s/numa_node", path);
	hold(!access(link, R_OK), "numa_node");
}

int main(int argc, char **argv)
{
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct ibv_context *ctx = first_active(&port);
	const char *name = ctx ? ibv_get_device_name(ctx->device) : NULL;

	if (!ctx)
		vc_die("no RoCE device with an active port");
	if (ibv_query_device(ctx, &attr))
		vc_die("ibv_query_device: %s", strerror(errno));
	printf("name %s\nmbps %u\ngid %d\n", name, mbps_of(&port), gid_of(ctx, &port));
	hold(mbps_of(&port), "speed and width");
	hold(argc < 2 || mbps_of(&port) == (unsigned int)atoi(argv[1]), "speed");
	hold(gid_of(ctx, &port) >= 0, "GIDs");
	hold(attr.phys_port_cnt == 1 && port.phys_state == 5, "port");
	hold(port.active_mtu >= IBV_MTU_1024 && port.active_mtu <= port.max_mtu, "MTU");
	hold(!strncmp(file_of(name, "ports/1/state"), "4: ACTIVE", 9), "state in sysfs");
	hold(atoi(file_of(name, "ports/1/rate")) * 1000u == mbps_of(&port) / 1000 * 1000, "rate in sysfs");
	hold(!strcmp(file_of(name, "ports/1/link_layer"), "Ethernet"), "link_layer in sysfs");
	compare(ctx, &attr, name);
	ibv_close_device(ctx);
	return bad;
}
