//! How are rows written as a Parquet file? Column by column, a hundred thousand rows at a time; the file gets its name
//! when it is whole.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use evercrawl_model::Time;
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use crate::error::ExportError;

/// Rows of a row group, which are in memory while they are gathered; and bytes of text in them.
pub(crate) const GROUP: usize = 100_000;
const MOST_TEXT: usize = 128 << 20;

/// What a column holds. Every value may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// Text that is hardly ever the same twice.
    Text,
    /// Text of which there are few.
    Label,
    Short,
    Int,
    Long,
    Double,
    Flag,
    Time,
}

/// The columns of a table.
pub(crate) type Columns = &'static [(&'static str, ColumnKind)];

/// The values of a column that are gathered; something stands also where one is missing.
enum Values {
    /// All texts in a row, and where each ends.
    Text(Vec<u8>, Vec<usize>),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Double(Vec<f64>),
    Flag(Vec<bool>),
}

struct Column {
    values: Values,
    is_there: Vec<bool>,
}

/// A Parquet file that is being written.
pub(crate) struct TableWriter {
    path: PathBuf,
    new: PathBuf,
    writer: SerializedFileWriter<BufWriter<File>>,
    columns: Vec<Column>,
    gathered: usize,
    text: usize,
    /// Whether row groups are put in order by the first column.
    is_sorted: bool,
    /// Rows of the whole file.
    pub(crate) rows: u64,
}

impl TableWriter {
    /// Begins the file at `path`.
    pub(crate) fn create(path: &Path, columns: Columns) -> Result<Self, ExportError> {
        let mut name = path.as_os_str().to_owned();
        name.push(".new");
        let new = PathBuf::from(name);
        let create = || -> io::Result<_> {
            if let Some(dir) = path.parent() {
                fs::create_dir_all(dir)?;
            }
            let schema = parse_message_type(&schema(columns)).map_err(said)?;
            let file = BufWriter::with_capacity(1 << 18, File::create(&new)?);
            let properties = Arc::new(properties(columns)?);
            SerializedFileWriter::new(file, Arc::new(schema), properties).map_err(said)
        };
        let writer = create().map_err(ExportError::io("write", path))?;
        Ok(TableWriter {
            path: path.to_owned(),
            new,
            writer,
            columns: columns.iter().map(|(_, kind)| Column::of(*kind)).collect(),
            gathered: 0,
            text: 0,
            is_sorted: false,
            rows: 0,
        })
    }

    /// The same, with each row group in the order of the first column.
    pub(crate) fn sorted(path: &Path, columns: Columns) -> Result<Self, ExportError> {
        Ok(TableWriter { is_sorted: true, ..TableWriter::create(path, columns)? })
    }

    /// Begins a row: every column is given its value in turn.
    pub(crate) fn row(&mut self) -> Row<'_> {
        self.gathered += 1;
        self.rows += 1;
        Row { columns: self.columns.iter_mut(), text: &mut self.text }
    }

    /// Writes a row group if enough is gathered.
    pub(crate) fn end_row(&mut self) -> Result<(), ExportError> {
        match self.gathered >= GROUP || self.text >= MOST_TEXT {
            true => self.write_group(),
            false => Ok(()),
        }
    }

    /// Writes what is gathered as a row group.
    fn write_group(&mut self) -> Result<(), ExportError> {
        if self.gathered == 0 {
            return Ok(());
        }
        let mut order: Vec<usize> = (0..self.gathered).collect();
        if let (true, Some(first)) = (self.is_sorted, self.columns.first()) {
            order.sort_by(|one, next| first.text(*one).cmp(first.text(*next)));
        }
        (self.gathered, self.text) = (0, 0);
        let (writer, columns) = (&mut self.writer, &mut self.columns);
        let mut write = || -> Result<(), ParquetError> {
            let mut group = writer.next_row_group()?;
            for column in columns.iter_mut() {
                let Some(mut out) = group.next_column()? else { break };
                column.write(&order, &mut out)?;
                out.close()?;
            }
            group.close().map(drop)
        };
        write().map_err(said).map_err(ExportError::io("write", &self.path))
    }

    /// The name that the file will have.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Ends the file, and gives it its name.
    pub(crate) fn finish(self) -> Result<u64, ExportError> {
        let path = self.path.clone();
        self.finish_as(&path)
    }

    /// Ends the file, and gives it the name `path`.
    pub(crate) fn finish_as(mut self, path: &Path) -> Result<u64, ExportError> {
        self.write_group()?;
        let TableWriter { new, writer, rows, .. } = self;
        let finish = || -> io::Result<()> {
            let file = writer.into_inner().map_err(said)?;
            file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_data()?;
            fs::rename(&new, path)
        };
        finish().map_err(ExportError::io("write", path))?;
        Ok(rows)
    }
}

/// A row that is being filled.
pub(crate) struct Row<'a> {
    columns: std::slice::IterMut<'a, Column>,
    text: &'a mut usize,
}

impl Row<'_> {
    pub(crate) fn text(&mut self, text: Option<&str>) -> &mut Self {
        *self.text += text.map_or(0, str::len);
        if let Some(column) = self.columns.next() {
            if let Values::Text(all, ends) = &mut column.values {
                all.extend_from_slice(text.unwrap_or_default().as_bytes());
                ends.push(all.len());
            }
            column.is_there.push(text.is_some());
        }
        self
    }

    pub(crate) fn int(&mut self, number: Option<impl Into<i32>>) -> &mut Self {
        self.put(number.map(Into::into), |values| match values {
            Values::Int(values) => Some(values),
            _ => None,
        })
    }

    /// A number that is expected to fit, such as a place in a file of a gigabyte; else the largest there is.
    pub(crate) fn fitting(&mut self, number: Option<u64>) -> &mut Self {
        self.int(number.map(|number| i32::try_from(number).unwrap_or(i32::MAX)))
    }

    pub(crate) fn long(&mut self, number: Option<u64>) -> &mut Self {
        let number = number.map(|number| i64::try_from(number).unwrap_or(i64::MAX));
        self.put(number, |values| match values {
            Values::Long(values) => Some(values),
            _ => None,
        })
    }

    pub(crate) fn time(&mut self, at: Option<Time>) -> &mut Self {
        self.long(at.map(Time::millis))
    }

    pub(crate) fn double(&mut self, number: Option<f64>) -> &mut Self {
        self.put(number, |values| match values {
            Values::Double(values) => Some(values),
            _ => None,
        })
    }

    pub(crate) fn flag(&mut self, flag: bool) -> &mut Self {
        self.put(Some(flag), |values| match values {
            Values::Flag(values) => Some(values),
            _ => None,
        })
    }

    fn put<T: Default>(
        &mut self,
        value: Option<T>,
        of_kind: impl FnOnce(&mut Values) -> Option<&mut Vec<T>>,
    ) -> &mut Self {
        if let Some(column) = self.columns.next() {
            column.is_there.push(value.is_some());
            if let Some(values) = of_kind(&mut column.values) {
                values.push(value.unwrap_or_default());
            }
        }
        self
    }
}

fn said(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(io) => *io,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

/// Little work a value: no dictionary where values differ anyway, and bounds by row group, not by page.
fn properties(columns: Columns) -> io::Result<WriterProperties> {
    let level = ZstdLevel::try_new(1).map_err(said)?;
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_write_batch_size(8192)
        .set_created_by(concat!("evercrawl ", env!("CARGO_PKG_VERSION")).to_owned());
    for (name, kind) in columns {
        let differs = !matches!(kind, ColumnKind::Label | ColumnKind::Short);
        if differs {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(*name), false);
        }
    }
    Ok(properties.build())
}

/// The schema as Parquet writes it.
fn schema(columns: Columns) -> String {
    let field = |(name, kind): &(&str, ColumnKind)| match kind {
        ColumnKind::Text | ColumnKind::Label => format!("OPTIONAL BYTE_ARRAY {name} (STRING);\n"),
        ColumnKind::Short => format!("OPTIONAL INT32 {name} (INTEGER(16,true));\n"),
        ColumnKind::Int => format!("OPTIONAL INT32 {name};\n"),
        ColumnKind::Long => format!("OPTIONAL INT64 {name};\n"),
        ColumnKind::Double => format!("OPTIONAL DOUBLE {name};\n"),
        ColumnKind::Flag => format!("OPTIONAL BOOLEAN {name};\n"),
        ColumnKind::Time => format!("OPTIONAL INT64 {name} (TIMESTAMP(MILLIS,true));\n"),
    };
    format!("message evercrawl {{\n{}}}", columns.iter().map(field).collect::<String>())
}

impl Column {
    fn of(kind: ColumnKind) -> Self {
        let values = match kind {
            ColumnKind::Text | ColumnKind::Label => Values::Text(Vec::new(), Vec::new()),
            ColumnKind::Short | ColumnKind::Int => Values::Int(Vec::new()),
            ColumnKind::Long | ColumnKind::Time => Values::Long(Vec::new()),
            ColumnKind::Double => Values::Double(Vec::new()),
            ColumnKind::Flag => Values::Flag(Vec::new()),
        };
        Column { values, is_there: Vec::new() }
    }

    /// The text of a row.
    fn text(&self, row: usize) -> &[u8] {
        let Values::Text(all, ends) = &self.values else { return &[] };
        let start = row.checked_sub(1).map_or(0, |before| ends[before]);
        &all[start..ends[row]]
    }

    /// Writes the values in an order, and is empty after that.
    fn write(
        &mut self,
        order: &[usize],
        out: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        let is_there = std::mem::take(&mut self.is_there);
        let levels: Vec<i16> = order.iter().map(|row| i16::from(is_there[*row])).collect();
        let rows = order.iter().copied().filter(|row| is_there[*row]);
        match &mut self.values {
            Values::Text(all, ends) => {
                let all = Bytes::from(std::mem::take(all));
                let ends = std::mem::take(ends);
                let text = |row: usize| {
                    let start = row.checked_sub(1).map_or(0, |before| ends[before]);
                    ByteArray::from(all.slice(start..ends[row]))
                };
                let texts: Vec<ByteArray> = rows.map(text).collect();
                write_all::<ByteArrayType>(out.typed(), &texts, &levels)
            }
            Values::Int(values) => write_some::<Int32Type>(out.typed(), values, rows, &levels),
            Values::Long(values) => write_some::<Int64Type>(out.typed(), values, rows, &levels),
            Values::Double(values) => write_some::<DoubleType>(out.typed(), values, rows, &levels),
            Values::Flag(values) => write_some::<BoolType>(out.typed(), values, rows, &levels),
        }
    }
}

fn write_some<T: DataType<T: Copy>>(
    writer: &mut ColumnWriterImpl<'_, T>,
    values: &mut Vec<T::T>,
    rows: impl Iterator<Item = usize>,
    levels: &[i16],
) -> Result<(), ParquetError> {
    let chosen: Vec<T::T> = rows.map(|row| values[row]).collect();
    values.clear();
    write_all::<T>(writer, &chosen, levels)
}

fn write_all<T: DataType>(
    writer: &mut ColumnWriterImpl<'_, T>,
    values: &[T::T],
    levels: &[i16],
) -> Result<(), ParquetError> {
    writer.write_batch(values, Some(levels), None).map(drop)
}
