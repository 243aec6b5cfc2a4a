#pragma once

// The form of a column mapping: kind, device, time, the fields that the kind needs, what words mean, where it is from.

#include "evaluation/column_mapping.h"

#include <QScrollArea>

#include <map>
#include <string>
#include <vector>

class QComboBox;
class QFormLayout;
class QLineEdit;

namespace orrery::ui {
class Label;
}

namespace orrery::app {

class MappingForm : public QScrollArea {
    Q_OBJECT
public:
    explicit MappingForm(QWidget* parent = nullptr);
    /// Makes the rows anew; neither is kept.
    void show(const TableSample& sample, const ColumnMapping& mapping);
    /// The kinds that the mapping speaks of, by a word or by a column's words.
    static std::vector<KernelKind> kindsOf(const TableSample& sample, const ColumnMapping& mapping);
    /// Fields of words whose column holds words that they do not know: `{column, field}`.
    static std::vector<std::pair<std::string, std::string>> foreignWords(const TableSample& sample,
                                                                         const ColumnMapping& mapping);

signals:
    void changed(const QString& key, const QString& value);
    void wordMeant(const QString& column, const QString& word, const QString& field, const QString& value);

private:
    QComboBox* addRow(QFormLayout* form, std::string_view key, const QString& label, const QString& meaning,
                      const QStringList& choices);
    QStringList choicesOf(std::string_view key) const;
    void addWords(QFormLayout* form);

    const TableSample* sample_ = nullptr;  ///< while rows are made
    const ColumnMapping* mapping_ = nullptr;
};

}  // namespace orrery::app
