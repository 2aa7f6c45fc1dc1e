// SPDX-License-Identifier: GPL-2.0
/*
 * multi_page_alloc(): an anonymous fault maps several pages.
 * Documentation/userspace-api/multi_page_alloc.rst describes what user space sees.
 *
 * The page that was touched is allocated as usual, with reclaim and the OOM killer.
 * The pages ahead of it are a guess: they are taken only from free memory, within
 * the limits of the memory cgroup.  A page that is not available is left to a later
 * fault.
 *
 * All pages are allocated, zeroed and charged before the page-table lock is taken;
 * pages that were not mapped are freed after it is released.
 */
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/oom.h>
#include <linux/pgtable.h>
#include <linux/rmap.h>
#include <linux/sched.h>
#include <linux/swap.h>
#include <linux/syscalls.h>
#include <linux/vmstat.h>

#include "internal.h"
#include "multi_page_alloc.h"

#define MAX_PAGES 512

/*
 * Pages to allocate at a time.  The bulk allocator zeroes them with preemption
 * disabled.
 */
#define CHUNK 32

/* No reclaim, not even by kswapd, and no reserves: the pages are a guess. */
#define GFP_AHEAD ((GFP_HIGHUSER_MOVABLE | __GFP_ZERO | __GFP_NOMEMALLOC | __GFP_NOWARN) & \
		   ~__GFP_RECLAIM)

/* How many entries, including the faulting one, the fault may fill. */
static unsigned long window(const struct vm_fault *vmf)
{
	const struct vm_area_struct *vma = vmf->vma;
	unsigned long end = pmd_addr_end(vmf->address, vma->vm_end);

	return min((end - vmf->address) >> PAGE_SHIFT,
		   (unsigned long)READ_ONCE(vma->vm_mm->multi_page_alloc));
}

/* Counts empty entries after the first.  Other threads may change them at any time. */
static unsigned long count_empty_ahead(const struct vm_fault *vmf, unsigned long entries)
{
	unsigned long empty = 0, i;
	pte_t *pte = pte_offset_map(vmf->pmd, vmf->address);

	if (!pte)
		return 0;
	for (i = 1; i < entries; i++)
		empty += pte_none(ptep_get_lockless(pte + i));
	pte_unmap(pte);
	return empty;
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

/* Adds COUNT pages to FOLIOS.  False if the memory cgroup has no room for all of them. */
static bool charge_pages(struct mm_struct *mm, struct page *pages[], unsigned long count,
			 struct list_head *folios)
{
	unsigned long charged = 0, i;

	while (charged < count) {
		struct folio *folio = page_folio(pages[charged]);

		if (mem_cgroup_charge(folio, mm, GFP_AHEAD))
			break;
		__folio_mark_uptodate(folio);
		list_add_tail(&folio->lru, folios);
		charged++;
	}
	for (i = charged; i < count; i++)
		__free_page(pages[i]);
	return charged == count;
}

/* Adds up to COUNT zeroed and charged folios to FOLIOS. */
static void alloc_ahead(struct mm_struct *mm, unsigned long count, struct list_head *folios)
{
	while (count) {
		struct page *pages[CHUNK] = {};
		unsigned long asked = min(count, CHUNK);
		unsigned long got = alloc_page_array(GFP_AHEAD, asked, pages);

		if (!charge_pages(mm, pages, got, folios) || got < asked)
			return;
		count -= asked;
	}
}

/*
 * Maps and locks the page table.  Returns NULL if there is nothing to do; *RET is
 * then the fault's return value.
 */
static pte_t *lock_empty_entry(struct vm_fault *vmf, vm_fault_t *ret)
{
	struct vm_area_struct *vma = vmf->vma;
	pte_t *pte = pte_offset_map_lock(vma->vm_mm, vmf->pmd, vmf->address, &vmf->ptl);

	*ret = 0;
	if (!pte)
		return NULL;
	if (likely(pte_none(ptep_get(pte)))) {
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
		      pte_t *pte)
{
	pte_t entry = pte_sw_mkyoung(mk_pte(&folio->page, vma->vm_page_prot));

	if (vma->vm_flags & VM_WRITE)
		entry = pte_mkwrite(pte_mkdirty(entry), vma);
	folio_add_new_anon_rmap(folio, vma, address, RMAP_EXCLUSIVE);
	folio_add_lru_vma(folio, vma);
	set_pte_at(vma->vm_mm, address, pte, entry);
	update_mmu_cache(vma, address, pte);
}

/* Maps FOLIOS into the empty entries from PTE on, until either runs out. */
static void map_folios(struct vm_fault *vmf, pte_t *pte, unsigned long entries,
		       struct list_head *folios)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long i;
	long mapped = 0;

	for (i = 0; i < entries && !list_empty(folios); i++) {
		struct folio *folio;

		if (!pte_none(ptep_get(pte + i)))
			continue;
		folio = list_first_entry(folios, struct folio, lru);
		list_del(&folio->lru);
		map_folio(vma, folio, vmf->address + i * PAGE_SIZE, pte + i);
		mapped++;
	}
	add_mm_counter(vma->vm_mm, MM_ANONPAGES, mapped);
}

vm_fault_t map_with_pages_ahead(struct vm_fault *vmf, struct folio *folio)
{
	struct mm_struct *mm = vmf->vma->vm_mm;
	unsigned long entries = has_memory_policy(vmf->vma) ? 1 : window(vmf);
	LIST_HEAD(folios);
	struct folio *next;
	vm_fault_t ret;
	pte_t *pte;

	/* The first empty entry is the faulting one, so its folio comes first. */
	list_add(&folio->lru, &folios);
	alloc_ahead(mm, count_empty_ahead(vmf, entries), &folios);

	pte = lock_empty_entry(vmf, &ret);
	if (pte) {
		map_folios(vmf, pte, entries, &folios);
		pte_unmap_unlock(pte, vmf->ptl);
	}
	list_for_each_entry_safe(folio, next, &folios, lru)
		folio_put(folio);
	return ret;
}

vm_fault_t map_zero_pages_ahead(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long entries = window(vmf), i;
	vm_fault_t ret;
	pte_t *pte = lock_empty_entry(vmf, &ret);

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
	WRITE_ONCE(current->mm->multi_page_alloc, pages);
	return 0;
}
