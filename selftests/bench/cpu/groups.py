# SPDX-License-Identifier: GPL-2.0
"""groups.py - which part of the kernel a sample belongs to, by its innermost functions."""

import re

# What a User-Mode Linux pays and a host does not: switching to its programs, signals for interrupts.
UML = "uml"

# (group, names): the first that matches counts.
TABLE = [(group, re.compile("^(?:" + names + ")$")) for group, names in [
    (UML, r".*ptrace.*|_*wait4|_*waitpid|userspace|.*stub.*|.*skas.*|.*_fp_registers|_*t?g?kill|set_singlestepping"
          r"|interrupt_end|arch_switch.*|handle_trap|relay_signal|.*sig_handler.*|timer_alarm_handler|hard_handler"
          r"|timer_real_alarm_handler|.*sigprocmask|_*libc_.*|_*(sig)?(set|long)jmp|um_request_irq|os_.*|__restore_rt"
          r"|_*poll|epoll_wait|.*timer_settime.*|handle_syscall|syscall|\[host\]|.*_signals(_trace)?|_?um_idle.*"
          r"|arch_cpu_idle.*|do_idle|default_idle.*|cpu_startup.*|sigio_.*|irq_do_.*|do_op_one.*|copy_chunk.*"
          r"|(to|from)_irq_stack|deliver_time.*|flush_tlb.*|um_tlb.*|fix_range.*|copy_context_skas.*|get_(skas|stub).*|map|unmap|memcpy_.*_stub"),
    ("time", r"ktime_get.*|timer_read|.*clock_gettime.*|_*hrtimer.*|timekeeping.*|timerqueue.*|um_timer|itimer.*"
             r"|clockevents.*|tick_.*|lapic.*|run_timer.*|_*mod_timer.*|enqueue_hrtimer|__remove_hrtimer"),
    ("crc", r"mrc_crc32_fold|fold_.*|crc32.*|crc_(bytes|folded|fold|update|load)"),
    ("icrc glue", r"mrc_icrc.*|icrc_.*|crypto_shash.*|crc_(init|final)|rxe_icrc.*|rxe_crc.*|skb_(prepare_|abort_)?seq.*"),
    ("copy", r"_*mem(cpy|move)(_orig|_erms)?|_*copy_(from|to)_.*|skb_copy_bits|rxe_mr_copy.*|rxe_mr_iter.*|raw_copy.*"
             r"|__skb_datagram_iter|copy_page_to_iter.*|_copy_.*iter|mrc_mr_(place|copy|fill|write).*|csum_partial.*"),
    ("skb, pages", r".*alloc_skb.*|.*kmem_cache.*|k(ma|z)?[mf]?alloc.*|_*kmalloc.*|_*kfree.*|.*slab.*|s?k?b?_?skb_(release|free|put|push|pull"
                   r"|clone|ensure|add_rx|reason|orphan|trim|expand|realloc|headers).*|sk_skb_reason.*|(napi_)?consume_skb.*|.*page_frag.*|_*pskb_.*"
                   r"|_*build_skb.*|_*put_page|get_page.*|_*free_(unref|page|frozen).*|rmqueue.*|_*alloc_pages.*|page_pool.*|_*memset.*"
                   r"|sock_[wr]free|_*folio_.*|get_partial.*|put_cpu_partial|.*unfreeze.*|napi_skb.*|skb_tx_error|___slab.*|set_page.*"),
    ("locks, irq flags", r"_raw_(spin|read|write).*|preempt_.*|_*local_bh.*|.*set_signals.*|.*get_signals.*|_*rcu_.*"
                         r"|queued_.*|lock_.*|refcount.*|_*srcu.*|call_rcu.*"),
    ("device, softirq", r"_*tasklet.*|bh_worker|kick_(bh_)?pool|assign_work|process_(scheduled|one)_works?|mrc_bhwork.*|.*softirq.*|irq_exit.*|_*napi.*|net_rx_action|process_backlog.*|enqueue_to_backlog"
                        r"|netif_.*|_*netif_.*|veth.*|_*dev_.*|__dev.*|validate_xmit.*|sch_direct.*|eth_.*|is_skb_forw.*|skb_scrub.*"
                        r"|netdev_.*|.*qdisc.*|pfifo.*|noop.*|skb_network_protocol|passthru.*|tcf.*|get_rps.*|rps_.*|gro_.*|skb_gro.*"
                        r"|loopback_.*|vector_.*|skb_checksum_help|_*irq_enter.*|handle_irq.*|.*irqentry.*|do_IRQ|generic_handle.*|handle_edge.*|um_.*irq.*"),
    ("ip, route, netfilter", r"_*ip6?_.*|_*ipv[46]_.*|rt6_.*|_*fib.*|dst_.*|_*neigh.*|inet6?_.*|nf_.*|xfrm.*|_*udp.*|_*ip_.*|seg6.*"
                             r"|lwtunnel.*|l3mdev.*|icmp.*|find_match|find_rr.*|rawv?6.*|skb_dst.*|rxe_find_route.*"),
    ("nvme, block", r"_*nvmet?_.*|_*blk_.*|_*bio_.*|_*null_.*|sbitmap.*|_*submit_bio.*|aio_.*|_*io_submit.*|blkdev.*|sgl_.*"
                    r"|lookup_ioctx|read_events|end_bio.*"),
    ("tcp, sock", r"_*tcp_.*|tcp.*|_*sk_.*|_*sock_.*|lock_sock.*|release_sock.*|cubictcp.*|skb_.*|_*skb_.*|security.*|mem_cgroup.*"),
    ("verbs, syscalls", r"_*(ib_)?uverbs.*|rdma_.*|ib_.*|ksys_.*|vfs_.*|_*fdget.*|fput.*|fget.*|.*sys_.*|new_sync.*|rw_verify.*|do_syscall.*"
                        r"|file_.*|fsnotify.*|ep_.*|_*poll.*|eventpoll.*|radix.*|idr.*|xa_.*|xas_.*"),
    ("scheduler", r"_*schedule.*|pick_.*|update_.*|en?queue_.*|dequeue_.*|try_to_wake.*|_*wake_.*|_*switch_.*|finish_task.*|sched_.*"
                  r"|set_next.*|put_prev.*|place_.*|reweight.*|ttwu.*|select_task.*|kthread.*|worker_.*|process_one.*|.*queue_work.*"
                  r"|(de)?activate.*|resched.*|_*resched.*|prepare_to.*|remove_wait.*|autoremove.*|ep_poll_callback|entity_.*|vruntime.*"),
]]


MRC = ("crc", "icrc glue", "copy")  # groups of the table that mrc's functions are in, too


def group_of(name, module, rooms):
    """Of the function @name of a kernel module, or of the kernel (""); @rooms: folders of mrc's functions."""
    base = name.split(".")[0]
    for group, names in TABLE:
        if (module != "mrc" or group in MRC) and names.match(base):
            return group
    if module == "mrc":
        return "mrc " + rooms.get(name, "other")
    if module in ("rdma_rxe", "siw"):
        return module
    return "other"
