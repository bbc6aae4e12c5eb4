//! How are rows written as a Parquet file? Column by column, some thousands of rows at a time; the file gets its name
//! when it is whole.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evercrawl_model::Time;
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::error::ExportError;

/// Rows of a row group, which are in memory while they are gathered.
pub(crate) const GROUP: usize = 200_000;

/// What a column holds. Every value may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Text,
    Short,
    Int,
    Long,
    Double,
    Flag,
    Time,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Missing,
    Text(String),
    Int(i32),
    Long(i64),
    Double(f64),
    Flag(bool),
}

impl Cell {
    pub(crate) fn text(text: Option<impl Into<String>>) -> Self {
        text.map_or(Cell::Missing, |text| Cell::Text(text.into()))
    }

    pub(crate) fn int(number: Option<impl Into<i32>>) -> Self {
        number.map_or(Cell::Missing, |number| Cell::Int(number.into()))
    }

    pub(crate) fn long(number: Option<u64>) -> Self {
        number.map_or(Cell::Missing, |number| Cell::Long(i64::try_from(number).unwrap_or(i64::MAX)))
    }

    pub(crate) fn double(number: Option<f64>) -> Self {
        number.map_or(Cell::Missing, Cell::Double)
    }

    pub(crate) fn time(at: Option<Time>) -> Self {
        Cell::long(at.map(Time::millis))
    }

    /// A number that is expected to fit, such as a place in a file of a gigabyte; else the largest there is.
    pub(crate) fn fitting(number: Option<u64>) -> Self {
        Cell::int(number.map(|number| i32::try_from(number).unwrap_or(i32::MAX)))
    }
}

/// The columns of a table.
pub(crate) type Columns = &'static [(&'static str, ColumnKind)];

/// The values of a column that are gathered.
enum Values {
    Text(Vec<ByteArray>),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Double(Vec<f64>),
    Flag(Vec<bool>),
}

struct Column {
    values: Values,
    /// One for a value that is there, zero for a missing one.
    levels: Vec<i16>,
}

/// A Parquet file that is being written.
pub(crate) struct TableWriter {
    path: PathBuf,
    new: PathBuf,
    writer: SerializedFileWriter<File>,
    columns: Vec<Column>,
    gathered: usize,
    /// Rows of the whole file.
    pub(crate) rows: u64,
}

impl TableWriter {
    pub(crate) fn create(path: &Path, columns: Columns) -> Result<Self, ExportError> {
        let mut name = path.as_os_str().to_owned();
        name.push(".new");
        let new = PathBuf::from(name);
        let create = || -> io::Result<SerializedFileWriter<File>> {
            if let Some(dir) = path.parent() {
                fs::create_dir_all(dir)?;
            }
            let schema = parse_message_type(&schema(columns)).map_err(said)?;
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
                .set_created_by(concat!("evercrawl ", env!("CARGO_PKG_VERSION")).to_owned())
                .build();
            let writer = SerializedFileWriter::new(
                File::create(&new)?,
                Arc::new(schema),
                Arc::new(properties),
            );
            writer.map_err(said)
        };
        let writer = create().map_err(ExportError::io("write", path))?;
        let columns = columns.iter().map(|(_, kind)| Column::of(*kind)).collect();
        Ok(TableWriter { path: path.to_owned(), new, writer, columns, gathered: 0, rows: 0 })
    }

    /// Adds a row: a cell for each column.
    pub(crate) fn push(&mut self, cells: Vec<Cell>) -> Result<(), ExportError> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell);
        }
        self.gathered += 1;
        self.rows += 1;
        if self.gathered >= GROUP { self.write_group() } else { Ok(()) }
    }

    /// Writes what is gathered as a row group.
    pub(crate) fn write_group(&mut self) -> Result<(), ExportError> {
        if self.gathered == 0 {
            return Ok(());
        }
        self.gathered = 0;
        let (writer, columns) = (&mut self.writer, &mut self.columns);
        let mut write = || -> Result<(), ParquetError> {
            let mut group = writer.next_row_group()?;
            for column in columns.iter_mut() {
                let Some(mut out) = group.next_column()? else { break };
                column.write(&mut out)?;
                out.close()?;
            }
            group.close().map(drop)
        };
        write().map_err(said).map_err(ExportError::io("write", &self.path))
    }

    /// Ends the file, and gives it its name.
    pub(crate) fn finish(mut self) -> Result<u64, ExportError> {
        self.write_group()?;
        let TableWriter { path, new, writer, rows, .. } = self;
        let finish = || -> io::Result<()> {
            writer.close().map_err(said)?;
            File::open(&new)?.sync_data()?;
            fs::rename(&new, &path)
        };
        finish().map_err(ExportError::io("write", &path))?;
        Ok(rows)
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

/// The schema as Parquet writes it.
fn schema(columns: Columns) -> String {
    let field = |(name, kind): &(&str, ColumnKind)| match kind {
        ColumnKind::Text => format!("OPTIONAL BYTE_ARRAY {name} (STRING);\n"),
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
            ColumnKind::Text => Values::Text(Vec::new()),
            ColumnKind::Short | ColumnKind::Int => Values::Int(Vec::new()),
            ColumnKind::Long | ColumnKind::Time => Values::Long(Vec::new()),
            ColumnKind::Double => Values::Double(Vec::new()),
            ColumnKind::Flag => Values::Flag(Vec::new()),
        };
        Column { values, levels: Vec::new() }
    }

    /// Adds a value; one of another kind counts as missing.
    fn push(&mut self, cell: Cell) {
        let is_there = match (&mut self.values, cell) {
            (Values::Text(values), Cell::Text(text)) => {
                values.push(ByteArray::from(text.into_bytes()));
                true
            }
            (Values::Int(values), Cell::Int(number)) => {
                values.push(number);
                true
            }
            (Values::Long(values), Cell::Long(number)) => {
                values.push(number);
                true
            }
            (Values::Double(values), Cell::Double(number)) => {
                values.push(number);
                true
            }
            (Values::Flag(values), Cell::Flag(flag)) => {
                values.push(flag);
                true
            }
            _ => false,
        };
        self.levels.push(i16::from(is_there));
    }

    /// Writes the values, and is empty after that.
    fn write(
        &mut self,
        out: &mut parquet::file::writer::SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        fn all<T: DataType>(
            writer: &mut ColumnWriterImpl<'_, T>,
            values: &mut Vec<T::T>,
            levels: &mut Vec<i16>,
        ) -> Result<(), ParquetError> {
            writer.write_batch(values, Some(levels), None)?;
            values.clear();
            levels.clear();
            Ok(())
        }
        let levels = &mut self.levels;
        match &mut self.values {
            Values::Text(values) => all(out.typed::<ByteArrayType>(), values, levels),
            Values::Int(values) => all(out.typed::<Int32Type>(), values, levels),
            Values::Long(values) => all(out.typed::<Int64Type>(), values, levels),
            Values::Double(values) => all(out.typed::<DoubleType>(), values, levels),
            Values::Flag(values) => all(out.typed::<BoolType>(), values, levels),
        }
    }
}
