#pragma once

// Rows of the serving form. A value of the question has one row in the tables of serving/fields: its editor, label,
// tooltip, range and the words for 0 come from there. Rows without a say at present are hidden.

#include "serving/fields/field_path.h"
#include "widgets/common/fold.h"
#include "widgets/common/value_edit.h"

#include <QVariant>

#include <functional>
#include <set>
#include <utility>
#include <vector>

class QCheckBox;
class QComboBox;
class QFormLayout;

namespace orrery::app {

using QuestionChange = std::function<void(ServingStudy&)>;

class FieldRows : public QObject {
    Q_OBJECT
public:
    template <class Value>
    struct Bound {
        std::function<Value(const ServingStudy&)> get;
        std::function<void(ServingStudy&, Value)> set;
    };
    using If = std::function<bool(const ServingStudy&)>;
    struct Name {
        QString id, label, tip;  ///< object name, label of the row, definition with unit
    };

    FieldRows(QFormLayout* form, QWidget* parent);

    /// The row of a value by its path; its object name is `serving.` and the path, `pools/` left out, with dots.
    /// `shown`: in place of whether the value matters.
    QWidget* field(const std::string& path, If shown = {});
    /// Every value of a section of the form (FieldTable::section) that has no row or claim yet, in the order of files.
    void section(std::string_view id);
    /// A control made elsewhere edits this value.
    void claim(QWidget* control, const std::string& path);

    // What is no single value of the question.
    QComboBox* choice(const Name& name, const std::vector<std::pair<QString, QVariant>>& entries, Bound<QVariant> value,
                      If shown = {});
    QCheckBox* flag(const Name& name, Bound<bool> value, If shown = {});
    void heading(const QString& text, If shown = {});
    void note(const QString& id, std::function<QString(const ServingStudy&)> text);
    void show(const ServingStudy& question);  ///< says nothing

signals:
    void edited(const orrery::app::QuestionChange& change);
    void turnRequested(const QString& path);  ///< a search is to turn the field of that path

private:
    void add(QWidget* control, const Name& name, bool labelled, const If& shown,
             std::function<void(const ServingStudy&)> fill);
    void tell(QuestionChange change);
    void tellValue(const std::string& path, const FieldValue& value);
    void wholeField(const Name& name, const std::string& path, const If& shown);
    void measureField(const Name& name, const std::string& path, const If& shown);
    void offeredField(const Name& name, const std::string& path, const If& shown);
    void textField(const Name& name, const std::string& path, const If& shown);

    struct Row {
        QWidget* control;
        If shown;
        std::function<void(const ServingStudy&)> fill;
    };
    QFormLayout* form_;
    QWidget* parent_;
    std::vector<Row> rows_;
    std::set<std::string> claimed_;  ///< paths
    bool filling_ = false;
};

/// The tooltip of a value: what it means, its range, what 0 stands for.
QString fieldTip(const FieldSpec& spec);
/// The name of the path among controls, for tests and scripts: the control has it as its property `field`.
inline constexpr const char* fieldProperty = "field";

/// A folded section of such rows.
class FieldFold : public ui::Fold {
    Q_OBJECT
public:
    /// `summary`: what stands at its head while it is closed.
    FieldFold(const QString& id, const QString& title, const QString& tip,
              std::function<QString(const ServingStudy&)> summary, QWidget* parent = nullptr);
    FieldRows& rows() { return *rows_; }
    void setShownIf(FieldRows::If shown) { shownIf_ = std::move(shown); }
    virtual void show(const ServingStudy& question);
    using QWidget::show;

signals:
    void edited(const orrery::app::QuestionChange& change);
    void turnRequested(const QString& path);

private:
    FieldRows* rows_;
    std::function<QString(const ServingStudy&)> summary_;
    FieldRows::If shownIf_;
};

/// A folded section of things of which there may be several: failures, tenants, stages.
class ListFold : public FieldFold {
    Q_OBJECT
public:
    struct Items {
        std::function<std::size_t(const ServingStudy&)> count;
        std::function<void(ServingStudy&)> add;
        std::function<void(ServingStudy&, std::size_t)> remove;
        std::string list;  ///< its path: `tenants`; an item has a row for each value
        QString title;     ///< of one: `Failure %1`
        QString addText, addTip;
    };
    ListFold(const QString& id, const QString& title, const QString& tip,
             std::function<QString(const ServingStudy&)> summary, Items items, QWidget* parent = nullptr);
    void show(const ServingStudy& question) override;

private:
    QWidget* card(std::size_t index);

    Items items_;
    QString id_;
    std::vector<QWidget*> cards_;
    std::vector<FieldRows*> fields_;
};

}  // namespace orrery::app
