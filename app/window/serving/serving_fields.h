#pragma once

// Rows of the serving form, each bound to one value of the question: what it shows, and how an edit of it changes the
// question. Rows without a say at present are hidden.

#include "serving/serving_study.h"
#include "widgets/common/fold.h"
#include "widgets/common/value_edit.h"

#include <QVariant>

#include <functional>
#include <utility>
#include <vector>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QSpinBox;

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

    QSpinBox* whole(const Name& name, int low, int high, Bound<int> value, If shown = {}, const QString& atLow = {});
    /// A quantity with its unit. `unset`: what stands there, greyed, for 0; empty: 0 is a value like others.
    ui::ValueEdit* measure(const Name& name, Dimension dimension, Bound<double> value, const QString& unset = {},
                           If shown = {}, double low = 0, double high = 1e18);
    QComboBox* choice(const Name& name, const std::vector<std::pair<QString, QVariant>>& entries, Bound<QVariant> value,
                      If shown = {});
    QCheckBox* flag(const Name& name, Bound<bool> value, If shown = {});
    QWidget* word(const Name& name, Bound<QString> value, If shown = {});
    void note(const QString& id, std::function<QString(const ServingStudy&)> text);
    void show(const ServingStudy& question);  ///< says nothing

signals:
    void edited(const orrery::app::QuestionChange& change);

private:
    void add(QWidget* control, const Name& name, bool labelled, const If& shown,
             std::function<void(const ServingStudy&)> fill);
    void tell(QuestionChange change);

    struct Row {
        QWidget* control;
        If shown;
        std::function<void(const ServingStudy&)> fill;
    };
    QFormLayout* form_;
    QWidget* parent_;
    std::vector<Row> rows_;
    bool filling_ = false;
};

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
        std::function<void(FieldRows&, std::size_t)> build;  ///< the rows of one
        QString title;                                       ///< of one: `Failure %1`
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
