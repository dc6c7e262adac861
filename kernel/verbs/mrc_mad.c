// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_mad.c - see mrc_mad.h.
 *
 * Data counters are in words of four bytes, as InfiniBand defines them: payload of connections,
 * including retransmissions. Datagrams count as packets, not as data. Error counters have the
 * meaning that they have for a NIC: malformed received packets, packets that could not be sent, and
 * management packets without a posted receive. Out-of-order arrival is normal here and counts as no
 * error.
 */
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include "core/mrc_dev.h"
#include "verbs/mrc_counters.h"
#include "verbs/mrc_mad.h"

#define MAD_WORD	4
#define MAD_ANSWERED	(IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY)

struct mad_sums {
	u64 tx_words, rx_words, tx_pkts, rx_pkts;
	u64 rx_errors, tx_discards, no_recv;
};

static u64 dev_stat(const atomic64_t *v)
{
	return (u64)atomic64_read(v);
}

static void mad_sum(struct mrc_dev *dev, struct mad_sums *m)
{
	const struct mrc_dev_stats *d = &dev->stats;
	struct mrc_statset sum;
	const struct mrc_stats *s = &sum.conn;

	mrc_counters_sum(dev, &sum);
	m->tx_words = s->tx_bytes / MAD_WORD;
	m->rx_words = s->rx_bytes / MAD_WORD;
	m->tx_pkts = s->tx_pkts + s->tx_ctrl_pkts + dev_stat(&d->tx_dgrams) +
		     dev_stat(&d->tx_dgram_copies);
	m->rx_pkts = s->rx_pkts + s->rx_ctrl_pkts + dev_stat(&d->rx_dgrams) +
		     dev_stat(&d->rx_dgram_copies);
	m->rx_errors = dev_stat(&d->rx_malformed) + dev_stat(&d->rx_bad_icrc);
	m->tx_discards = dev_stat(&d->tx_no_route) + dev_stat(&d->tx_down) +
			 dev_stat(&d->tx_no_mem) + dev_stat(&d->tx_errors) +
			 dev_stat(&d->tx_too_long);
	m->no_recv = dev_stat(&d->rx_dgram_no_recv);
}

/* Counters of 16 and 32 bits stop at their largest value (IBTA 16.1.3.5). */
static __be16 mad_u16(u64 v)
{
	return cpu_to_be16((u16)min_t(u64, v, U16_MAX));
}

static __be32 mad_u32(u64 v)
{
	return cpu_to_be32((u32)min_t(u64, v, U32_MAX));
}

static void mad_counters(const struct mad_sums *m, struct ib_pma_portcounters *c)
{
	c->port_select = 1;
	c->port_rcv_errors = mad_u16(m->rx_errors);
	c->port_xmit_discards = mad_u16(m->tx_discards);
	c->vl15_dropped = mad_u16(m->no_recv);
	c->port_xmit_data = mad_u32(m->tx_words);
	c->port_rcv_data = mad_u32(m->rx_words);
	c->port_xmit_packets = mad_u32(m->tx_pkts);
	c->port_rcv_packets = mad_u32(m->rx_pkts);
}

static void mad_counters_ext(const struct mad_sums *m, struct ib_pma_portcounters_ext *c)
{
	c->port_select = 1;
	c->port_xmit_data = cpu_to_be64(m->tx_words);
	c->port_rcv_data = cpu_to_be64(m->rx_words);
	c->port_xmit_packets = cpu_to_be64(m->tx_pkts);
	c->port_rcv_packets = cpu_to_be64(m->rx_pkts);
	c->port_unicast_xmit_packets = c->port_xmit_packets;
	c->port_unicast_rcv_packets = c->port_rcv_packets;
}

static int mad_answer(struct mrc_dev *dev, __be16 attr_id, struct ib_pma_mad *out)
{
	struct ib_class_port_info *info = (struct ib_class_port_info *)out->data;
	struct mad_sums m;

	switch (attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
		return MAD_ANSWERED;
	case IB_PMA_PORT_COUNTERS:
		mad_sum(dev, &m);
		mad_counters(&m, (struct ib_pma_portcounters *)out->data);
		return MAD_ANSWERED;
	case IB_PMA_PORT_COUNTERS_EXT:
		mad_sum(dev, &m);
		mad_counters_ext(&m, (struct ib_pma_portcounters_ext *)out->data);
		return MAD_ANSWERED;
	}
	out->mad_hdr.status = cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	return MAD_ANSWERED;
}

int mrc_mad_process(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
		    const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		    size_t *out_size, u16 *out_pkey_index)
{
	if (wc || in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_SUCCESS;	/* left to ib_core */
	memset(out, 0, sizeof(*out));
	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	return mad_answer(to_mrc_dev(ibdev), in->mad_hdr.attr_id, (struct ib_pma_mad *)out);
}
