// SPDX-License-Identifier: GPL-2.0
/*
 * multi_page_alloc(): an anonymous fault maps several pages.
 * Documentation/userspace-api/multi_page_alloc.rst describes what user space sees.
 *
 * The page that was touched is allocated as usual, with reclaim and the OOM killer.
 * The pages ahead of it are a guess, for which nobody else should pay: they are
 * taken only from memory that is free, and where the CPU maintains the dirty bit
 * they are mapped clean and not swap-backed, as MADV_FREE leaves pages.  Reclaim
 * then frees those that were never written, before anything else.
 *
 * All pages are allocated, zeroed and charged before the page-table lock is taken;
 * pages that were not mapped are freed after it is released.
 */
#include <linux/cgroup.h>
#include <linux/gfp.h>
#include <linux/hugetlb.h>
#include <linux/ksm.h>
#include <linux/list.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/mmzone.h>
#include <linux/page_counter.h>
#include <linux/oom.h>
#include <linux/pgtable.h>
#include <linux/rmap.h>
#include <linux/sched.h>
#include <linux/swap.h>
#include <linux/syscalls.h>
#include <linux/vmstat.h>

#include <asm/tlbflush.h>

#include "internal.h"
#include "multi_page_alloc.h"

#define MAX_PAGES 512

/*
 * Pages to allocate at a time.  The bulk allocator zeroes them with preemption
 * disabled.
 */
#define CHUNK 32

/* No reclaim, not even by kswapd, no reserves and no other node: the pages are a guess. */
#define GFP_AHEAD ((GFP_HIGHUSER_MOVABLE | __GFP_ZERO | __GFP_NOMEMALLOC | __GFP_NOWARN | \
		    __GFP_THISNODE) & ~__GFP_RECLAIM)

/*
 * A memory cgroup takes the lack of both reclaim flags for a caller that may not spin on
 * locks, and charges each page by itself.  Charges never wake kswapd.
 */
#define GFP_CHARGE (GFP_AHEAD | __GFP_KSWAPD_RECLAIM)

/* How many entries, including the faulting one, the fault may fill. */
static unsigned long window(const struct vm_fault *vmf)
{
	const struct vm_area_struct *vma = vmf->vma;
	unsigned long end = pmd_addr_end(vmf->address, vma->vm_end);

	return min((end - vmf->address) >> PAGE_SHIFT,
		   (unsigned long)READ_ONCE(vma->vm_mm->multi_page_alloc));
}

/* Entries that read as zeros, and use no memory: empty ones and zero pages. */
static bool holds_zeros(pte_t pte)
{
	return pte_none(pte) || (pte_present(pte) && is_zero_pfn(pte_pfn(pte)));
}

/* How many entries after the first hold zeros.  Others may change them at any time. */
static unsigned long count_zeros_ahead(const struct vm_fault *vmf, unsigned long entries)
{
	unsigned long zeros = 0, i;
	pte_t *pte = pte_offset_map(vmf->pmd, vmf->address);

	if (!pte)
		return 0;
	for (i = 1; i < entries; i++)
		zeros += holds_zeros(ptep_get_lockless(pte + i));
	pte_unmap(pte);
	return zeros;
}

/* The bulk allocator does not support memory policies. */
static bool has_memory_policy(const struct vm_area_struct *vma)
{
#ifdef CONFIG_NUMA
	return vma->vm_policy || current->mempolicy;
#else
	return false;
#endif
}

/*
 * Whether pages ahead can be mapped clean: a CPU that does not maintain the dirty
 * bit would take a fault to set it.
 */
static bool are_droppable(void)
{
	return arch_has_hw_pte_young();
}

/* By how much USED is below LIMIT. */
static unsigned long below(unsigned long limit, unsigned long used)
{
	return limit - min(limit, used);
}

/*
 * Whether a zone of node NID has COUNT pages above the mark at which kswapd starts.  kswapd
 * stops when one zone has enough, so any zone will do.
 */
static bool node_has_free(int nid, unsigned long count)
{
	enum zone_type highest = gfp_zone(GFP_AHEAD);
	struct zoneref *ref;
	struct zone *zone;

	for_each_zone_zonelist(zone, ref, node_zonelist(nid, GFP_AHEAD), highest)
		if (zone_watermark_ok(zone, 0, low_wmark_pages(zone) + count, highest, 0))
			return true;
	return false;
}

/*
 * Whether node NID has COUNT free pages, and enough besides them is free or can be reclaimed
 * without swapping: on a machine that has been up for a while the page cache leaves little
 * free.  Pages that cannot be dropped may take half of the memory at most.
 */
static bool machine_has_room(int nid, unsigned long count)
{
	unsigned long kept = totalram_pages() / (are_droppable() ? 8 : 2);

	return node_has_free(nid, count) && si_mem_available() >= kept + count;
}

#ifdef CONFIG_MEMCG
/*
 * Clean pages of files, which reclaim drops first.  The counters lag behind a little.  The
 * LRU lists of files do not say: pages ahead are on them, too.
 */
static unsigned long clean_cache(struct mem_cgroup *memcg)
{
	unsigned long others = memcg_page_state(memcg, NR_SHMEM) +
			       memcg_page_state(memcg, NR_FILE_DIRTY) +
			       memcg_page_state(memcg, NR_WRITEBACK) +
			       memcg_page_state(memcg, NR_UNEVICTABLE);

#ifdef CONFIG_SWAP
	others += memcg_page_state(memcg, NR_SWAPCACHE);
#endif
	return below(memcg_page_state(memcg, NR_FILE_PAGES), others);
}

/*
 * How many pages can be charged without an event.  At a limit these are the pages that
 * the charge of the page that was touched has reclaimed in excess.  Half of the limit is
 * left to pages that are touched; page cache counts as left.  A charge rounds up to a
 * batch: it takes the batch back if it exceeds max, but not if it exceeds high.
 */
static unsigned long counter_room(struct page_counter *counter, unsigned long cache)
{
	unsigned long max = READ_ONCE(counter->max), high = READ_ONCE(counter->high);
	unsigned long used = page_counter_read(counter);

	return min3(below(max, used), below(high, used + MEMCG_CHARGE_BATCH),
		    below(min(max, high) / 2, below(used, cache)));
}

static unsigned long memcg_room(struct mem_cgroup *memcg)
{
	unsigned long cache = clean_cache(memcg);
	unsigned long room = counter_room(&memcg->memory, cache);

	if (!cgroup_subsys_on_dfl(memory_cgrp_subsys))
		return min(room, counter_room(&memcg->memsw, cache));
	/* Over this mark, every charge makes the task reclaim. */
	return page_counter_read(&memcg->swap) <= READ_ONCE(memcg->swap.high) ? room : 0;
}

/* How many of COUNT pages can be charged to MM: no charge fails or counts as an event. */
static unsigned long memcgs_room(struct mm_struct *mm, unsigned long count)
{
	struct mem_cgroup *own, *memcg;

	if (mem_cgroup_disabled())
		return count;
	own = get_mem_cgroup_from_mm(mm);
	for (memcg = own; memcg && count; memcg = parent_mem_cgroup(memcg))
		count = min(count, memcg_room(memcg));
	mem_cgroup_put(own);
	return count;
}
#else
static unsigned long memcgs_room(struct mm_struct *mm, unsigned long count)
{
	return count;
}
#endif

/* Adds COUNT pages to FOLIOS.  False if a limit was lowered just now. */
static bool charge_pages(struct mm_struct *mm, struct page *pages[], unsigned long count,
			 struct list_head *folios)
{
	unsigned long charged = 0, i;

	while (charged < count) {
		struct folio *folio = page_folio(pages[charged]);

		if (mem_cgroup_charge(folio, mm, GFP_CHARGE))
			break;
		__folio_mark_uptodate(folio);
		list_add_tail(&folio->lru, folios);
		charged++;
	}
	for (i = charged; i < count; i++)
		__free_page(pages[i]);
	return charged == count;
}

/* Adds up to COUNT zeroed and charged folios of node NID to FOLIOS. */
static void alloc_ahead(struct mm_struct *mm, int nid, unsigned long count,
			struct list_head *folios)
{
	while (count) {
		struct page *pages[CHUNK] = {};
		unsigned long asked = memcgs_room(mm, min(count, CHUNK)), got;

		if (!asked || !machine_has_room(nid, asked))
			return;
		got = alloc_page_array(GFP_AHEAD, nid, asked, pages);
		if (!charge_pages(mm, pages, got, folios) || got < asked)
			return;
		count -= asked;
	}
}

/*
 * Maps and locks the page table, whose entry for the fault has to be empty or, if
 * MAY_BE_ZERO_PAGE, may map a zero page.  Returns NULL if there is nothing to do; *RET
 * is then the fault's return value.
 */
static pte_t *lock_entry(struct vm_fault *vmf, bool may_be_zero_page, vm_fault_t *ret)
{
	struct vm_area_struct *vma = vmf->vma;
	pte_t *pte = pte_offset_map_lock(vma->vm_mm, vmf->pmd, vmf->address, &vmf->ptl);
	pte_t entry;

	*ret = 0;
	if (!pte)
		return NULL;
	entry = ptep_get(pte);
	if (likely(pte_none(entry) || (may_be_zero_page && holds_zeros(entry)))) {
		*ret = check_stable_address_space(vma->vm_mm);
		if (likely(!*ret))
			return pte;
	} else {
		update_mmu_tlb(vma, vmf->address, pte);
	}
	pte_unmap_unlock(pte, vmf->ptl);
	return NULL;
}

static void map_folio(struct vm_area_struct *vma, struct folio *folio, unsigned long address,
		      pte_t *pte, bool is_clean)
{
	pte_t entry = mk_pte(&folio->page, vma->vm_page_prot);

	/* Nobody will notice the first write to a clean page. */
	if (is_clean)
		entry = pte_mksoft_dirty(pte_mkold(entry));
	else
		entry = pte_mkdirty(pte_sw_mkyoung(entry));
	folio_add_new_anon_rmap(folio, vma, address, RMAP_EXCLUSIVE);
	if (is_clean)
		__folio_clear_swapbacked(folio);
	folio_add_lru_vma(folio, vma);
	set_pte_at(vma->vm_mm, address, pte, maybe_mkwrite(entry, vma));
	update_mmu_cache(vma, address, pte);
}

/* How many of ENTRIES from PTE on there are until COUNT of them hold zeros. */
static unsigned long entries_with_zeros(pte_t *pte, unsigned long entries, unsigned long count)
{
	unsigned long i;

	for (i = 0; i < entries && count; i++)
		count -= holds_zeros(ptep_get(pte + i));
	return i;
}

/* Empties the entries from PTE on that map a zero page. */
static void unmap_zero_pages(struct vm_fault *vmf, pte_t *pte, unsigned long entries)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long first = entries, i;

	for (i = 0; i < entries; i++) {
		pte_t entry = ptep_get(pte + i);

		if (pte_none(entry) || !holds_zeros(entry))
			continue;
		ksm_might_unmap_zero_page(vma->vm_mm, entry);
		ptep_clear(vma->vm_mm, vmf->address + i * PAGE_SIZE, pte + i);
		first = min(first, i);
	}
	/* No CPU may read zeros from the old page once another can write the new one. */
	if (first < entries)
		flush_tlb_range(vma, vmf->address + first * PAGE_SIZE,
				vmf->address + entries * PAGE_SIZE);
}

/* Maps FOLIOS into the empty entries from PTE on.  The first is for the page touched. */
static void map_folios(struct vm_fault *vmf, pte_t *pte, unsigned long entries,
		       struct list_head *folios)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long i;
	long mapped = 0;

	for (i = 0; i < entries; i++) {
		struct folio *folio;

		if (!pte_none(ptep_get(pte + i)))
			continue;
		folio = list_first_entry(folios, struct folio, lru);
		list_del(&folio->lru);
		map_folio(vma, folio, vmf->address + i * PAGE_SIZE, pte + i,
			  i && are_droppable());
		mapped++;
	}
	add_mm_counter(vma->vm_mm, MM_ANONPAGES, mapped);
}

vm_fault_t map_with_pages_ahead(struct vm_fault *vmf, struct folio *folio)
{
	struct mm_struct *mm = vmf->vma->vm_mm;
	unsigned long entries = has_memory_policy(vmf->vma) ? 1 : window(vmf);
	struct mmu_notifier_range range;
	LIST_HEAD(folios);
	struct folio *next;
	vm_fault_t ret;
	pte_t *pte;

	list_add(&folio->lru, &folios);
	alloc_ahead(mm, folio_nid(folio), count_zeros_ahead(vmf, entries), &folios);

	mmu_notifier_range_init(&range, MMU_NOTIFY_CLEAR, 0, mm, vmf->address,
				vmf->address + entries * PAGE_SIZE);
	mmu_notifier_invalidate_range_start(&range);
	pte = lock_entry(vmf, true, &ret);
	if (pte) {
		entries = entries_with_zeros(pte, entries, list_count_nodes(&folios));
		unmap_zero_pages(vmf, pte, entries);
		map_folios(vmf, pte, entries, &folios);
		pte_unmap_unlock(pte, vmf->ptl);
	}
	mmu_notifier_invalidate_range_end(&range);
	list_for_each_entry_safe(folio, next, &folios, lru)
		folio_put(folio);
	return ret;
}

vm_fault_t map_zero_pages_ahead(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long entries = window(vmf), i;
	vm_fault_t ret;
	pte_t *pte = lock_entry(vmf, false, &ret);

	if (!pte)
		return ret;
	for (i = 0; i < entries; i++) {
		unsigned long address = vmf->address + i * PAGE_SIZE;
		unsigned long pfn = page_to_pfn(ZERO_PAGE(address));

		if (!pte_none(ptep_get(pte + i)))
			continue;
		set_pte_at(vma->vm_mm, address, pte + i,
			   pte_mkspecial(pfn_pte(pfn, vma->vm_page_prot)));
		update_mmu_cache(vma, address, pte + i);
	}
	pte_unmap_unlock(pte, vmf->ptl);
	return 0;
}

SYSCALL_DEFINE1(multi_page_alloc, long, pages)
{
	if (pages < 0 || pages > MAX_PAGES)
		return -EINVAL;
	/* Not 0, for faults that have begun to map pages ahead: they would map none. */
	WRITE_ONCE(current->mm->multi_page_alloc, pages ?: 1);
	return 0;
}
