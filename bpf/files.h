/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known of the files that a process maps. A process that maps plain files only is not
 * stopped, and the tool is not told of it. */
#pragma once

struct super_block { u32 s_dev; } __attribute__((preserve_access_index));
struct inode {
	unsigned long i_ino;
	s64 i_size;
	struct super_block *i_sb;
} __attribute__((preserve_access_index));
struct timespec64 { s64 tv_sec; long tv_nsec; } __attribute__((preserve_access_index));
struct inode___since_6_11 { s64 i_ctime_sec; u32 i_ctime_nsec; } __attribute__((preserve_access_index));
struct inode___since_6_6 { struct timespec64 __i_ctime; } __attribute__((preserve_access_index));
struct inode___before { struct timespec64 i_ctime; } __attribute__((preserve_access_index));
struct file { struct inode *f_inode; } __attribute__((preserve_access_index));
struct vm_area_struct { struct file *vm_file; } __attribute__((preserve_access_index));
struct signal_struct___times { u64 utime, stime; } __attribute__((preserve_access_index));
struct task_struct___times { u64 utime, stime; struct signal_struct___times *signal; } __attribute__((preserve_access_index));

/* Filled by the tool. When the map is full, files that were not looked up for long make room. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct file_key);
	__type(value, u32); /* enum file_is */
} files SEC(".maps");

/* The kernel has bpf_find_vma and bpf_loop (Linux 5.17). Without them nothing is
 * known of files, and every program is stopped. */
const volatile u32 finds_files = 0;

static __always_inline enum file_is known(struct file_key *key)
{
	u32 *is = bpf_map_lookup_elem(&files, key);

	return is ? *is : FILE_UNKNOWN;
}

/* Fills in the key of a mapping's file. The inode stays 0 if the mapping has no file. */
static long identify(struct task_struct *task, struct vm_area_struct *vma, struct file_key *key)
{
	struct inode *inode = BPF_CORE_READ(vma, vm_file, f_inode);
	struct inode___since_6_11 *newest = (void *)inode;
	struct inode___since_6_6 *newer = (void *)inode;
	struct inode___before *older = (void *)inode;

	if (!inode)
		return 0;
	key->inode = BPF_CORE_READ(inode, i_ino);
	key->size = BPF_CORE_READ(inode, i_size);
	key->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	if (bpf_core_field_exists(newest->i_ctime_sec))
		key->changed = BPF_CORE_READ(newest, i_ctime_sec) * 1000000000ULL + BPF_CORE_READ(newest, i_ctime_nsec);
	else if (bpf_core_field_exists(newer->__i_ctime))
		key->changed = BPF_CORE_READ(newer, __i_ctime.tv_sec) * 1000000000ULL + BPF_CORE_READ(newer, __i_ctime.tv_nsec);
	else
		key->changed = BPF_CORE_READ(older, i_ctime.tv_sec) * 1000000000ULL + BPF_CORE_READ(older, i_ctime.tv_nsec);
	return 0;
}

/* Fills in the key of the file in which a program begins to run after its exec: its loader, or the
 * program itself if it is static. Returns 1 if that file is plain, so that the program may run
 * on. */
static __always_inline u32 begins_plain(struct file_key *key)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);

	if (!finds_files || bpf_find_vma(task, REG_IP(regs), identify, key, 0) || !key->inode)
		return 0;
	switch (known(key)) {
	case FILE_PLAIN:
	case FILE_LOADER:
		return 1;
	default:
		return 0;
	}
}

/* A walk over the list of libraries of a process. The counts are in the map programs and not
 * here, so that the verifier does not follow their values. */
struct walk {
	u64 at; /* struct link_map */
	u32 pid, pad;
};

struct link_map { u64 l_addr, l_name, l_ld, l_next; };

static long visit(u32 n, struct walk *w)
{
	struct program *p = bpf_map_lookup_elem(&programs, &w->pid);
	struct life l = { .pid = w->pid, .kind = LIFE_FILE };
	struct link_map map;

	if (!w->at || !p)
		return 1;
	if (bpf_probe_read_user(&map, sizeof(map), (void *)w->at) ||
	    bpf_find_vma(bpf_get_current_task_btf(), map.l_ld, identify, &l.file, 0)) {
		p->unknown_now++;
		return 1;
	}
	w->at = map.l_next;
	if (!l.file.inode) /* the vDSO */
		return 0;
	switch (known(&l.file)) {
	case FILE_UNKNOWN:
		p->unknown_now++;
		tell(&l, 0, 0);
		break;
	case FILE_WANTED:
		p->wanted_now++;
		break;
	default:
		break;
	}
	return 0;
}

#define MOST_LIBRARIES 8192

/* Whether a process that has loaded or unloaded libraries maps nothing for the tool to look at.
 * r_state is the address of that field of struct r_debug (link.h). The list of libraries lies two
 * words before the field. Two words behind it lies the list of another namespace (r_version 2). */
static __always_inline int nothing_new(u32 pid, u64 r_state)
{
	struct program *p = bpf_map_lookup_elem(&programs, &pid), first = {};
	struct walk w = { .pid = pid };
	u64 other = 0;
	int version = 0;
	u32 before;

	if (!finds_files || bpf_probe_read_user(&w.at, sizeof(w.at), (void *)(r_state - 16)) ||
	    bpf_probe_read_user(&version, sizeof(version), (void *)(r_state - 24)))
		return 0;
	if (version > 1 && (bpf_probe_read_user(&other, sizeof(other), (void *)(r_state + 16)) || other))
		return 0;
	if (!p) {
		bpf_map_update_elem(&programs, &pid, &first, BPF_NOEXIST);
		p = bpf_map_lookup_elem(&programs, &pid);
		if (!p)
			return 0;
	}
	before = p->wanted;
	p->wanted_now = p->unknown_now = 0;
	bpf_loop(MOST_LIBRARIES, visit, &w, 0);
	p->wanted = p->wanted_now;
	return !p->unknown_now && p->wanted <= before && !w.at;
}

/* Notes that a process has executed a program. */
static __always_inline void executed(u32 pid, struct task_struct *of)
{
	struct task_struct___times *task = (void *)of;
	struct program p = { .began = bpf_ktime_get_ns() };

	p.user = BPF_CORE_READ(task, utime) + BPF_CORE_READ(task, signal, utime);
	p.system = BPF_CORE_READ(task, stime) + BPF_CORE_READ(task, signal, stime);
	bpf_map_update_elem(&programs, &pid, &p, BPF_ANY);
}

/* Notes that a process was forked; its libraries are its parent's. */
static __always_inline void forked(u32 pid, u32 from)
{
	struct program *parent = bpf_map_lookup_elem(&programs, &from);
	struct program p = { .began = bpf_ktime_get_ns(), .wanted = parent ? parent->wanted : 0 };

	bpf_map_update_elem(&programs, &pid, &p, BPF_ANY);
}
