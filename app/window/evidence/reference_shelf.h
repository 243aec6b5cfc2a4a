#pragma once

// The references that are loaded in this session: the small tables that ship, and files that a person opened.

#include "evaluation/reference_index.h"

#include <QObject>
#include <QStringList>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace orrery::app {

class Background;
/// Immutable: what is being judged keeps the tables that it was asked about.
using ReferenceTablesPtr = std::shared_ptr<const std::vector<ReferenceTable>>;

class ReferenceShelf : public QObject {
    Q_OBJECT
public:
    explicit ReferenceShelf(QObject* parent = nullptr);
    /// Reads what ships, once; cheap after that.
    void readShipped();
    /// Files or folders. `device`: catalogue id for rows whose device the catalogue does not know.
    /// `mapping`: how their columns become kernels, instead of a description that is found by name.
    void open(const QStringList& files, const QString& device = {},
              std::shared_ptr<const ImportDescription> mapping = {});
    /// The same of several; `imports`: by file the text of its description, where it has one of its own.
    void open(const QStringList& files, const std::map<std::string, std::string>& imports);
    void remove(int table);
    const ReferenceTablesPtr& tables() const { return tables_; }  ///< never null
    /// Of all tables, to find kernels in; never null.
    const std::shared_ptr<const ReferenceIndex>& index() const { return index_; }
    bool isReading() const;

signals:
    void changed();
    void readingChanged(bool reading);
    void refused(const orrery::Diagnostic& why);
    void unknown(const QString& file);  ///< refused because nothing knows its columns

private:
    /// Files of equal options are read together.
    void read(std::vector<std::pair<std::vector<std::string>, ReadOptions>> groups);
    void show(ReferenceTablesPtr tables, std::shared_ptr<const ReferenceIndex> index);

    ReferenceTablesPtr tables_ = std::make_shared<const std::vector<ReferenceTable>>();
    std::shared_ptr<const ReferenceIndex> index_ = std::make_shared<const ReferenceIndex>(tables_);
    Background* reading_;
    bool shipped_ = false;
};

/// `12,345 rows · measured · H100 SXM`
QString summaryOf(const ReferenceTable& table);

}  // namespace orrery::app
