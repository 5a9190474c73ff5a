"""How much of anything reading will take before it says no."""

from dataclasses import dataclass, replace

_ANY_RATIO = 2**62


@dataclass(frozen=True, slots=True)
class Limits:
    """Ceilings for one file and for the process that reads it.

    The figures follow Apache Tika, Apache POI and OWASP ASVS 5.0 V5.2, and were widened where
    ordinary documents broke them: an embedded PDF or an empty sheet compresses more than a
    hundredfold, so the ratio is only judged on entries above a grace.

    Attributes:
        file_bytes: Size of a file.
        archive_bytes: Size of everything in a ZIP container or an archive, unpacked.
        archive_entry_bytes: Size of one entry, unpacked.
        archive_ratio: Declared over stored size of an entry larger than the grace.
        archive_ratio_grace: Declared bytes below which the ratio is not judged.
        archive_entries: Number of entries in a ZIP container.
        archive_files: Number of files in an archive, those in archives inside it included.
        archive_depth: Archives inside archives.
        text_characters: Text of one document; what is beyond becomes further documents.
        line_bytes: One line of a text file.
        xml_depth: Elements inside elements.
        image_pages: Pages of a TIFF.
        image_pixels: Width times height of an image.
        sheet_cells: Cells of one spreadsheet or delimited table.
        cell_characters: Characters of one cell (the ceiling of spreadsheet programs).
        worker_memory_bytes: Address space of a worker.
        worker_files: Files a worker may hold open.
        cpu_seconds: Processor time for one file.
        wall_seconds: Time for one file that is neither a PDF nor read by OCR.
        pdf_wall_seconds: Time for a PDF before its pages are counted.
        pdf_wall_seconds_per_page: Time added for each page.
        pdf_wall_seconds_ceiling: Time for a PDF until it asks for more, which it does while
            its pages can be read.
        ocr_page_seconds: Time for one image or scanned page.
        ocr_wall_seconds_ceiling: Time no file may exceed, however much it asks for.
        recycle_files: Files after which a worker is replaced, plain text not counted.
        recycle_rss_bytes: Peak memory after which a worker is replaced.
    """

    file_bytes: int = 100_000_000
    archive_bytes: int = 500_000_000
    archive_entry_bytes: int = 100_000_000
    archive_ratio: int = 100
    archive_ratio_grace: int = 10_000_000
    archive_entries: int = 5_000
    archive_files: int = 20_000
    archive_depth: int = 3
    text_characters: int = 20_000_000
    line_bytes: int = 20_000_000
    xml_depth: int = 200
    image_pages: int = 5_000
    image_pixels: int = 50_000_000
    sheet_cells: int = 5_000_000
    cell_characters: int = 32_767
    worker_memory_bytes: int = 2_000_000_000
    worker_files: int = 64
    cpu_seconds: int = 60
    wall_seconds: float = 20.0
    pdf_wall_seconds: float = 10.0
    pdf_wall_seconds_per_page: float = 0.2
    pdf_wall_seconds_ceiling: float = 30.0
    ocr_page_seconds: float = 30.0
    ocr_wall_seconds_ceiling: float = 600.0
    recycle_files: int = 200
    recycle_rss_bytes: int = 500_000_000


def archive_limits(limits: Limits) -> Limits:
    """Return the limits of a ZIP that is no document but an archive of many.

    What is unpacked is bounded as it is unpacked, however small it was.
    """
    return replace(
        limits,
        archive_entries=2 * limits.archive_files,  # folders are entries, too
        archive_entry_bytes=limits.archive_bytes,  # one that is larger is no reason against others
        archive_ratio=_ANY_RATIO,
    )
